"""How a text or a thing becomes an agent (``agents.make``). In the order of reading:

    text --Spec.parse--> Spec --maker--> Maker --read, build--> Agent     spec, registry, maker
    thing ------------------ kind_of ------------ as_agent ---> Agent     kinds, as_agent

``registry`` is the table of names, ``import_path`` imports ``FILE.py:NAME``, ``options`` reads
what a class declares, and ``networks`` gives everything that answers for many boards one shape.
"""
