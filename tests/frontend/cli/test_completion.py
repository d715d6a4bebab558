"""The completion scripts of lstmc and lstmc-run for bash, zsh and fish, run in the shells that are
installed: every flag of the tables is offered, and so are values."""
import os
import re
import shlex
import shutil
import subprocess
import unittest

from command import Case, LSTMC, SOURCE, words_in_table

COMMANDS, FLAGS = words_in_table()
RUN = os.path.realpath(os.path.join(os.path.dirname(LSTMC), "../../executor/run/lstmc-run"))
RUN_FLAGS = re.findall(r'^LSTMC_RUN_FLAG\(\w+, (0|\'.\'), "([^"]+)", "([^"]*)"',
                       (SOURCE / "executor/run/flags.def").read_text(), re.M)

# Each runs after the script and prints the candidates for the last of WORDS. zsh's own functions
# only work in its line editor, so stand-ins print their arguments.
ASK = {
    "bash": 'compopt() {{ :; }}\nCOMP_WORDS=({words}); COMP_CWORD={last}; {function}; printf '
            '"%s\\n" "${{COMPREPLY[@]}}"',
    "zsh":
    '''compadd() {{ for at in {{1..$#}}; do [[ $@[at] == -a ]] && {{ print -l -- ${{(M)names:#${{word}}*}}; return; }}; done; print -l -- ${{(M)@:#${{word}}*}} }}
_describe() {{ print -l -- ${{(M)${{names%%:*}}:#${{word}}*}} }}
_files() {{ print -l -- ${{word}}*(N) }}
words=({words}); CURRENT={count}; {function}''',
    "fish": 'complete -C {line}',
}


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.tools = self.folder / "bin"
        self.tools.mkdir()
        (self.tools / "lstmc").symlink_to(LSTMC)

    def script(self, shell, program):
        words = [LSTMC, "help"] if program == "lstmc" else [RUN]
        return subprocess.run([*words, "--completion", shell], capture_output=True, text=True,
                              check=True).stdout

    def offered(self, shell, *words):
        script = self.script(shell, words[0])
        # the completion system, to which the function is registered, is not loaded
        if shell == "zsh":
            script = script[:script.rindex("if [[ $funcstack")]
        quoted = " ".join(map(shlex.quote, words))
        ask = ASK[shell].format(words=quoted, last=len(words) - 1, count=len(words),
                                function="_" + words[0].replace("-", "_"),
                                line=shlex.quote(" ".join(words)))
        options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
        done = subprocess.run(
            [shell, *options, "-c", f"{script}\n{ask}"], capture_output=True, text=True,
            cwd=self.folder,
            env={"PATH": f"{self.tools}:{os.environ['PATH']}", "HOME": str(self.folder)},
            timeout=240)
        self.assertEqual(done.stderr, "", f"{shell}: {words}")
        # fish adds descriptions
        return [line.split("\t")[0] for line in done.stdout.splitlines() if line]

    def shells(self):
        found = [shell for shell in ASK if shutil.which(shell)]
        print("not here:", ", ".join(set(ASK) - set(found)) or "none")
        return found

    def check(self, shell, wanted, *words):
        """Checks the candidates; fish sorts them."""
        offered = self.offered(shell, *words)
        self.assertEqual(sorted(offered) if shell == "fish" else offered,
                         sorted(wanted) if shell == "fish" else wanted, f"{shell}: {words}")

    def test_values(self):
        for shell in self.shells():
            self.check(shell, ["auto", "always", "never"], "lstmc", "train", "--color", "")
            self.check(shell, ["vocab=", "hidden=", "batch=", "seq="], "lstmc", "train",
                       "small.lnet", "--set", "")
            self.check(shell, ["cpu:0"], "lstmc", "train", "-d", "")
            self.check(shell, ["momentum="], "lstmc", "train", "--fit", "mom")
            self.check(shell, ["adagrad", "adadelta", "adam", "adamw", "adamax"], "lstmc", "train",
                       "--optimizer", "ada")
            self.check(shell, ["accuracy", "acc"], "lstmc", "eval", "--metric", "acc")
            self.check(shell, ["Embedding"], "lstmc", "help", "Embed")
            self.check(shell, [f"E020{i}" for i in range(1, 10)], "lstmc", "explain", "E020")
            self.check(shell, ["compile"], "lstmc", "comp")
            self.check(shell, ["small.lnet"], "lstmc", "train", "sma")
            self.check(shell, ["bash"], "lstmc-run", "--completion", "ba")
            self.check(shell, ["small.lnet"], "lstmc-run", "sma")

    def test_every_flag(self):
        for shell in self.shells():
            for command in ("train", "plot", "launch", "help"):
                wanted = {"--" + flag["name"] for flag in FLAGS if command in flag["commands"]}
                self.assertEqual(set(self.offered(shell, "lstmc", command, "--")), wanted,
                                 f"{shell}: {command}")
            self.assertEqual(set(self.offered(shell, "lstmc-run", "--")),
                             {"--" + name for letter, name, argument in RUN_FLAGS}, shell)

    def test_every_command_has_every_flag(self):
        for shell in ASK:
            script = self.script(shell, "lstmc")
            for command in COMMANDS:
                for flag in FLAGS:
                    if command not in flag["commands"]:
                        continue
                    line = {"bash": rf'^    {command}\) words=".*--{flag["name"]} ',
                            "zsh": rf"^    {command}\) names=\(.*'--{flag['name']}:",
                            "fish": rf"seen_subcommand_from [\w ]*\b{command}\b[^']*' -l "
                                    rf"{flag['name']}( -s {flag['letter']})? -"}[shell]
                    self.assertRegex(script, re.compile(line, re.M), shell)

    def test_lstmc_run_refuses_another_shell(self):
        done = subprocess.run([RUN, "--completion", "csh"], capture_output=True, text=True)
        self.assertEqual(
            (done.returncode, done.stderr),
            (2, 'error[E0001]: --completion: found "csh", want one of bash|zsh|fish\n'))


if __name__ == "__main__":
    unittest.main()
