"""Completion of the commands in shells, made of the parser."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The text that a shell reads: ``eval "$(adjoint completion bash)"``."""
    commands = _commands(parser)
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


_Options = dict[str, tuple[tuple[str, ...], str]]
"""Each option with what it takes, and what it is for."""


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, _Options, tuple[str, ...]]]:
    """The commands: what each is for, its options, and the words that may stand for its argument."""
    actions = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in actions._choices_actions}
    found = {}
    for name, command in actions.choices.items():
        options: _Options = {}
        words: tuple[str, ...] = ()
        for action in command._actions:
            choices = tuple(map(str, action.choices or ()))
            if not action.option_strings:
                words += choices
            for option in action.option_strings:
                options[option] = choices, action.help or ""
        found[name] = helps[name], options, words
    return found


def _bash(commands: dict[str, tuple[str, _Options, tuple[str, ...]]]) -> str:
    lines = [
        '# Completion of adjoint for bash: eval "$(adjoint completion bash)"',
        "_adjoint() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}",
        "    COMPREPLY=()",
        "    if [[ $COMP_CWORD -eq 1 ]]; then",
        f'        COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version" -- "$word"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $last" in',
    ]
    for name, (_, options, _words) in commands.items():
        for option, (choices, _help) in options.items():
            if choices:
                words = " ".join(choices)
                lines.append(f'        "{name} {option}") COMPREPLY=($(compgen -W "{words}" -- "$word")); return ;;')
    lines += ["    esac", '    case "${COMP_WORDS[1]}" in']
    for name, (_, options, words_) in commands.items():
        given = " ".join((*options, *words_))
        files = "" if words_ else ' $(compgen -f -- "$word")'
        lines.append(f'        {name}) COMPREPLY=($(compgen -W "{given}" -- "$word"){files}) ;;')
    return "\n".join([*lines, "    esac", "}", "complete -o filenames -F _adjoint adjoint"])


def _zsh(commands: dict[str, tuple[str, _Options, tuple[str, ...]]]) -> str:
    lines = ["#compdef adjoint", '# Completion of adjoint for zsh: eval "$(adjoint completion zsh)"', "_adjoint() {"]
    described = " ".join(f"'{name}:{_plain(text)}'" for name, (text, _options, _words) in commands.items())
    lines += [
        "    if (( CURRENT == 2 )); then",
        f"        local -a commands=({described})",
        "        _describe command commands",
        "        return",
        "    fi",
        "    case $words[2] in",
    ]
    for name, (_, options, words) in commands.items():
        specs = [
            f"'{option}[{_plain(text)}]{f':value:({chr(32).join(choices)})' if choices else ''}'"
            for option, (choices, text) in options.items()
        ]
        rest = f"'*:value:({' '.join(words)})'" if words else "'*:file:_files'"
        lines.append(f"        {name}) shift words; (( CURRENT-- )); _arguments {' '.join([*specs, rest])} ;;")
    return "\n".join([*lines, "    esac", "}", "compdef _adjoint adjoint"])


def _fish(commands: dict[str, tuple[str, _Options, tuple[str, ...]]]) -> str:
    lines = ["# Completion of adjoint for fish: adjoint completion fish | source"]
    for name, (text, options, words) in commands.items():
        lines.append(f"complete -c adjoint -n __fish_use_subcommand -a {name} -d '{_plain(text)}'")
        here = f"complete -c adjoint -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{here} -f -a '{' '.join(words)}'"] if words else []
        for option, (choices, help_) in options.items():
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            given = f" -x -a '{' '.join(choices)}'" if choices else ""
            lines.append(f"{here} {flag}{given} -d '{_plain(help_)}'")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text without what shells read."""
    return "".join(char for char in text if char not in "'\"[]:$`\\!")
