"""Makes the agent that a name or an import path stands for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from c4env.agents.base import Agent
from c4env.agents.making.as_agent import NETWORK_OPTIONS, as_agent
from c4env.agents.making.kinds import NETWORKS, Kind, kind_of, kind_of_objects
from c4env.agents.making.options import (
    REQUIRED,
    makes_agents,
    options_of,
    parameters_of,
    require_known,
    summary_of,
)
from c4env.errors import C4Error, InvalidOption, UnknownAgent, brief, describe_error


class Maker:
    """A class or factory that makes an agent from options; or a function or network that plays.

    Attributes:
        name: the agent's name or import path.
        thing: the class, function or network.
        is_called: whether calling the thing makes the agent; if not, the thing itself plays.
        about: a summary; by default the first line of the docstring.
        argument: the option that a spec may set without a key.
        options: the agent's options; a class of networks also has the options of its networks.

    Raises:
        InvalidOption: the thing is not a class, factory, function or network.
    """

    def __init__(self, name: str, thing: Any, about: str = "", argument: str = "") -> None:
        kind = kind_of(thing)
        parameters = parameters_of(thing)
        if kind is Kind.NOTHING:
            expected = "expected a class, function, Entry or model"
            raise InvalidOption(f"agent {name!r}: {thing!r}: {expected}")
        if kind in (Kind.CLASS, Kind.FUNCTION) and parameters is None:
            raise InvalidOption(
                f"agent {name!r}: {thing!r} has no signature: expected a class, or a function of "
                "an observation"
            )
        self.name, self.thing, self.argument = name, thing, argument
        self.about = about or summary_of(thing.__doc__)
        self.is_called = kind is Kind.CLASS or (kind is Kind.FUNCTION and makes_agents(thing))
        own = options_of(thing) if self.is_called else ()
        names = {option.name for option in own}
        if kind is Kind.CLASS:
            kind = kind_of_objects(thing)
        network_options = NETWORK_OPTIONS if kind in NETWORKS else ()
        more = [option for option in network_options if option.name not in names]
        self.options = (*own, *more)
        self._for_network = {option.name for option in more}
        self._takes_any = self.is_called and any(
            p.kind is p.VAR_KEYWORD for p in (parameters or {}).values()
        )

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of options; a text is converted to the type of its annotation.

        Raises:
            InvalidOption: an option is unknown or missing, or a text is malformed.
        """
        declared = {option.name: option for option in self.options}
        texts = {key: value for key, value in given.items() if isinstance(value, str)}
        for key, text in texts.items():
            if (next_key := re.search(r":(\w+)=", text)) and next_key[1] in declared:
                meant = f"{key}={text.replace(':', ',')}"
                raise InvalidOption(f"{self.name}: {key}={text!r}: did you mean {meant!r}?")
        if not self._takes_any:
            require_known(self.name, given, declared)
        missing = [o.name for o in self.options if o.default is REQUIRED and o.name not in given]
        if missing:
            wanted = ",".join(f"{key}=VALUE" for key in missing)
            wanted = missing[0].upper() if missing[0] == self.argument else wanted
            raise InvalidOption(
                f"{self.name}: {missing[0]} is missing: expected {self.name}:{wanted}"
            )
        read = {k: declared[k].parse(self.name, text) for k, text in texts.items() if k in declared}
        return {**given, **read}  # other values are for the class itself to check

    def build(self, values: Mapping[str, Any]) -> Agent:
        """Make the agent with values of its options (:meth:`read`)."""
        if not self.is_called:
            return as_agent(self.thing, **values)
        if inspect.isabstract(self.thing):
            methods = ", ".join(sorted(self.thing.__abstractmethods__))
            raise UnknownAgent(f"{self.name}: its class does not write the method {methods}")
        network_values = {key: values[key] for key in values if key in self._for_network}
        try:
            built = self.thing(**{key: values[key] for key in values if key not in network_values})
        except C4Error:
            raise
        except (Exception, SystemExit) as error:  # a user's code may raise any error
            raise UnknownAgent(
                f"{self.name}: making the agent raised {describe_error(error)}"
            ) from error
        if isinstance(built, Agent):
            if "name" in (parameters_of(type(built)) or ()):
                raise InvalidOption(
                    f"{self.name}: the spec becomes the agent's name, so the option 'name' of "
                    f"{type(built).__name__} would be lost: expected another name for the option"
                )
            return built
        try:
            return as_agent(built, **network_values)
        except InvalidOption as error:
            text = brief(built)
            reason = str(error).removeprefix(f"agent {text}: ")
            raise UnknownAgent(f"agent {self.name!r} made {text}: {reason}") from None
