"""The commands of ``c4``, a module each: ``configure(parser)`` and ``execute(arguments)``."""
