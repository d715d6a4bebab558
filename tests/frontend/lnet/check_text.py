"""Programs drawn from the grammar of docs/language.md §1, and every .lnet file of the repository,
compared with CPython: every program that lstmc accepts, ast.parse(bytes) accepts; fmt is idempotent
and keeps ast.dump and every comment in order.

usage: check_text.py LNET_TEXT_TOOL SOURCE_DIR [COUNT]"""

import ast, io, json, pathlib, random, re, subprocess, sys, tokenize, warnings

warnings.simplefilter("ignore")
NAMES = ["a", "b", "x", "w_1", "N", "match", "case", "_", "data", "num_hidden", "é"[:0] or "T"]


class Sentences:
    """Draws sentences; `fuel` bounds their size. The layout (comments, blank lines, breaks) is
    random too."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, *choices):
        return self.r.choice(choices)

    def chance(self, p):
        return self.r.random() < p

    def many(self, make, low, high, sep):
        return sep.join(make() for _ in range(self.r.randint(low, high)))

    def name(self):
        return self.pick(*NAMES)

    def space(self):
        """Random space between tokens; inside brackets, a line end and a comment too."""
        if self.brackets and self.chance(0.08):
            comment = "  # c%d" % self.r.randint(0, 99) if self.chance(0.5) else ""
            return comment + "\n" + " " * self.r.randint(0, 9)
        if not self.brackets and self.chance(0.01):
            return " \\\n  "
        return self.pick("", " ", "  ", "\t") if self.chance(0.3) else " "

    def inside(self, open, make, close):
        self.brackets += 1
        text = open + self.gap() + make() + self.gap() + close
        self.brackets -= 1
        return text

    def gap(self):
        return self.space() if self.chance(0.4) else ""

    def comma(self):
        return self.gap() + "," + self.space()

    def string(self):
        body = "".join(self.pick("a", "é", "日本", "%d", " ", "\\n", "\\u00e9", "\\\\", "#")
                       for _ in range(self.r.randint(0, 6)))
        quote = self.pick('"', "'", '"""', "'''")
        if len(quote) == 3 and self.chance(0.3):
            body += "\n  x\ty" if self.chance(0.5) else "\r\n z"
        other = {"'": '"', '"': "'"}[quote[0]]
        if self.chance(0.2):
            body = "a" + other + body
        return quote + body + quote

    def number(self):
        return self.pick("0", "35", "0x1f", "0b1", "0o7", "1_000", "1.5", ".5", "1e-3", "2.",
                         "9223372036854775807")

    def atom(self, fuel):
        if fuel <= 0:
            return self.pick(self.name(), self.number(), "None", "True")
        f = fuel - 1
        kind = self.r.randrange(12)
        if kind < 4:
            return self.name()
        if kind == 4:
            return self.number()
        if kind == 5:
            return self.many(self.string, 1, 2, " ")
        if kind == 6:
            return self.inside("(", lambda: self.exprs(f), ")")
        if kind == 7:
            return self.inside("[", lambda: self.listing(lambda: self.expr(f), 0, 3, True), "]")
        if kind == 8:
            return self.inside("{", lambda: self.listing(lambda: self.expr(f) + self.gap() + ":"
                                                         + self.space() + self.expr(f), 0, 2, True),
                               "}")
        if kind == 9:
            return self.inside("[", lambda: self.expr(f) + " for " + self.targets(1) + " in "
                               + self.or_(f) + (" if " + self.or_(f) if self.chance(0.4) else ""),
                               "]")
        if kind == 10:
            return "()"
        return self.pick("True", "False", "None")

    def listing(self, make, low, high, trailing=False):
        items = [make() for _ in range(self.r.randint(low, high))]
        text = ""
        for i, item in enumerate(items):
            text += item + (self.comma() if i + 1 < len(items) else "")
        return text + ("," if trailing and items and self.chance(0.2) else "")

    def post(self, fuel):
        text = self.atom(fuel)
        if fuel <= 0:
            return text
        for _ in range(self.r.choice([0, 0, 0, 1, 1, 2])):
            kind = self.r.randrange(4)
            if kind < 2:
                text += self.inside("(", lambda: self.args(fuel - 1), ")")
            elif kind == 2:
                text += self.inside("[", lambda: self.index(fuel - 1), "]")
            else:
                text += (" ." if text[-1].isdigit() or text[-1] == "." else ".") + self.name()
        return text

    def args(self, fuel):
        parts = [self.pick("", "", "*") + self.expr(fuel) for _ in range(self.r.randint(0, 2))]
        names = self.r.sample(NAMES, self.r.randint(0, 2))
        parts += [n + self.gap() + "=" + self.gap() + self.expr(fuel) for n in names]
        text = ""
        for i, part in enumerate(parts):
            text += part + (self.comma() if i + 1 < len(parts) else "")
        return text + ("," if parts and self.chance(0.1) else "")

    def index(self, fuel):
        def item():
            kind = self.r.randrange(5)
            if kind < 2:
                return self.expr(fuel)
            if kind == 2:
                return "..."
            part = lambda: self.expr(fuel) if self.chance(0.5) else ""
            return part() + ":" + part() + (":" + part() if self.chance(0.3) else "")
        return self.listing(item, 1, 3, True)

    def unary(self, fuel):
        if self.chance(0.12):
            return self.pick("-", "+", "- ") + self.unary(fuel)
        text = self.post(fuel)
        return (text + self.gap() + "**" + self.gap() + self.unary(fuel - 1) if self.chance(0.08)
                else text)

    def chain(self, make, ops, p):
        text = make()
        while self.chance(p):
            text += self.space() + self.pick(*ops) + self.space() + make()
        return text

    def sum(self, fuel):
        product = lambda: self.chain(lambda: self.unary(fuel), ["*", "/", "//", "%", "@"], 0.1)
        return self.chain(product, ["+", "-"], 0.12)

    def cmp(self, fuel):
        text = self.sum(fuel)
        while self.chance(0.1):
            if self.chance(0.2):
                text += self.pick(" is None", " is not None")
            else:
                text += (" " + self.pick("==", "!=", "<", "<=", ">", ">=", "in", "not in") + " "
                         + self.sum(fuel))
        return text

    def not_(self, fuel):
        return "not " + self.not_(fuel) if self.chance(0.08) else self.cmp(fuel)

    def or_(self, fuel):
        return self.chain(lambda: self.chain(lambda: self.not_(fuel), [" and "], 0.07),
                          [" or "], 0.07)

    def expr(self, fuel):
        if fuel > 0 and self.chance(0.05):
            return "lambda" + (" " + ", ".join(self.r.sample(NAMES, self.r.randint(1, 2)))
                               if self.chance(0.7) else "") + ": " + self.expr(fuel - 1)
        text = self.or_(fuel)
        if fuel > 0 and self.chance(0.06):
            text += " if " + self.or_(fuel - 1) + " else " + self.expr(fuel - 1)
        return text

    def exprs(self, fuel):
        return (self.listing(lambda: self.expr(fuel), 1, self.pick(1, 1, 3), False)
                + ("," if self.chance(0.1) else ""))

    def target(self, fuel):
        if fuel > 0 and self.chance(0.2):
            return self.inside("(", lambda: self.targets(fuel - 1), ")")
        return self.name()

    def targets(self, fuel):
        return (self.listing(lambda: self.target(fuel), 1, self.pick(1, 1, 3))
                + ("," if self.chance(0.1) else ""))

    def type(self, fuel=1):
        if fuel and self.chance(0.15):
            return self.inside("(", lambda: self.listing(lambda: self.type(0), 1, 2), ")")
        text = self.pick("float32", "int32", "bool", "f16")
        if self.chance(0.7):
            text += self.inside(
                "[", lambda: self.listing(lambda: self.pick("...", "_", self.expr(0), self.sum(0)),
                                          1, 3), "]")
        return text

    def small(self):
        kind = self.r.randrange(10)
        if kind == 0:
            return "from " + self.many(self.name, 1, 2, ".") + " import " + self.many(
                lambda: self.name() + (" as " + self.name() if self.chance(0.3) else ""), 1,
                2, ", ")
        if kind < 5:
            return self.targets(1) + " = " + self.exprs(2)
        if kind == 5:
            return self.name() + ": " + self.type() + " = " + self.exprs(2)
        if kind == 6:
            return self.name() + " " + self.pick("+=", "-=", "*=", "/=") + " " + self.exprs(2)
        if kind == 7:
            return "assert " + self.expr(2) + (", " + self.expr(1) if self.chance(0.4) else "")
        if kind == 8:
            return "return " + self.exprs(2) if self.defs else "pass"
        return self.exprs(2)

    def simple(self):
        return (self.many(self.small, 1, self.pick(1, 1, 1, 2), self.pick("; ", ";"))
                + (";" if self.chance(0.1) else "") + self.ending())

    def ending(self):
        return (self.pick("  ", " ", "      ", "") + "# é t%d" % self.r.randint(0, 99)
                if self.chance(0.15) else "") + self.newline

    def block(self, indent, fuel):
        if self.chance(0.2):
            return " " + self.simple()
        inner = indent + " " * self.r.choice([1, 2, 4, 4, 8])
        text = self.ending()
        for _ in range(self.r.randint(1, 3)):
            text += self.between(inner) + inner + self.stmt(inner, fuel - 1)
        if self.chance(0.1):
            text += self.pick(inner, indent, "") + "# end of block" + self.newline
        return text

    def between(self, indent):
        text = ""
        while self.chance(0.2):
            text += self.pick("", "", indent + "# own line", "# far left", "  ") + self.newline
        return text

    def stmt(self, indent, fuel):
        self.brackets = 0
        if fuel <= 0 or self.chance(0.6):
            return self.simple()
        kind = self.r.randrange(4)
        if kind == 0:
            names = self.r.sample(NAMES, self.r.randint(0, 3))
            default = self.r.randint(0, len(names))
            def parameter(i):
                return (names[i] + (": " + self.type() if self.chance(0.4) else "")
                        + ("=" + self.expr(1) if i >= default else ""))
            items = [parameter(i) for i in range(len(names))]
            head = ("def " + self.name() + "(" + ", ".join(items)
                    + (")" if not items or self.chance(0.9) else ",)"))
            if self.chance(0.2):
                head += " -> " + self.type()
            self.defs += 1
            text = head + ":" + self.block(indent, fuel)
            self.defs -= 1
            return text
        if kind == 1:
            return ("for " + self.targets(1) + " in " + self.exprs(2) + ":"
                    + self.block(indent, fuel))
        if kind == 2:
            text = "if " + self.expr(2) + self.pick(":", " :") + self.block(indent, fuel)
            for _ in range(self.r.choice([0, 0, 1, 2])):
                text += indent + "elif " + self.expr(2) + ":" + self.block(indent, fuel)
            if self.chance(0.4):
                text += indent + "else:" + self.block(indent, fuel)
            return text
        scope = lambda: self.name() + "(" + self.args(1) + ")"
        return "with " + self.many(scope, 1, 2, ", ") + ":" + self.block(indent, fuel)

    def file(self):
        self.newline = self.pick("\n", "\n", "\n", "\r\n")
        self.brackets = self.defs = 0
        text = self.pick("", "", "\ufeff") + self.between("")
        for _ in range(self.r.randint(1, 5)):
            text += self.between("") + self.stmt("", self.pick(1, 1, 2, 3))
        if self.chance(0.1):
            text = text.rstrip("\r\n")
        return text.encode()


def comments(data):
    return [t.string.rstrip() for t in tokenize.tokenize(io.BytesIO(data).readline)
            if t.type == tokenize.COMMENT]


class Tool:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, data):
        self.process.stdin.write(b"%d\n" % len(data) + data)
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def check(tool, data, origin, must_accept):
    answer = tool.ask(data)
    problem = None
    if not answer["ok"]:
        if must_accept:
            problem = "refused: " + "; ".join(answer["errors"])
    else:
        try:
            tree = ast.dump(ast.parse(data))
        except (SyntaxError, ValueError) as e:
            problem, tree = "CPython refuses it: %s" % e, None
        if tree is not None:
            formatted = answer["formatted"].encode()
            again = tool.ask(formatted)
            if not again["ok"]:
                problem = "fmt's text is refused: %s\n%s" % (again["errors"], formatted.decode())
            elif again["formatted"].encode() != formatted:
                problem = "fmt(fmt(x)) differs\n--- once\n%s--- twice\n%s" % (
                    formatted.decode(), again["formatted"])
            elif ast.dump(ast.parse(formatted)) != tree:
                problem = "fmt changes the tree\n" + formatted.decode()
            elif comments(data) != comments(formatted):
                problem = "fmt changes the comments\n" + formatted.decode()
            elif b"\r" in formatted or b"\t" in re.sub(
                    rb"(?s)('''|\"\"\").*?\1|'[^'\n]*'|\"[^\"\n]*\"|#[^\n]*", b"", formatted):
                problem = "fmt leaves a carriage return or tab\n" + formatted.decode()
    if problem:
        sys.exit("%s\n--- program\n%s\n--- %s" % (origin, data.decode(), problem))
    return answer["ok"]


def mutate(r, data):
    """Drops, doubles or swaps bytes. Most results are invalid programs; some are valid ones that
    the grammar does not draw."""
    data = bytearray(data)
    for _ in range(r.randint(1, 3)):
        if not data:
            break
        at = r.randrange(len(data))
        kind = r.randrange(4)
        if kind == 0:
            del data[at]
        elif kind == 1:
            data.insert(at, r.choice(b"()[]{},:;=+-*/ \n\t\\'\"#.0129axe"))
        elif kind == 2:
            data[at:at] = data[at:at + r.randint(1, 12)]
        else:
            data[at] = r.choice(b"()[]{},:;=+-*/ \n'\"#.0xe_")
    return bytes(data)


def main():
    tool, source = Tool(sys.argv[1]), pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
    files = sorted(source.glob("samples/*.lnet")) + sorted(source.glob("frontend/lnet/*.lnet"))
    for path in files:
        check(tool, path.read_bytes(), str(path), True)
    for seed in range(count):
        data = Sentences(seed).file()
        check(tool, data, "seed %d" % seed, True)
    r, accepted = random.Random(7), 0
    for seed in range(count):
        data = mutate(r, Sentences(seed).file())
        try:
            data.decode()
        except UnicodeDecodeError:
            continue
        accepted += check(tool, data, "mutation %d" % seed, False)
    print("%d files, %d sentences, %d mutations of which %d are programs"
          % (len(files), count, count, accepted))


if __name__ == "__main__":
    main()
