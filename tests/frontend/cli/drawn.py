"""Reads pictures with parsers of XML and HTML: boxes and arrows of Graphviz's SVG, elements of a
page."""
import html.parser
import re
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"


class Graph:
    """`boxes`: id to lines; `arrows`: (from, to, label), by id."""

    def __init__(self, svg):
        self.boxes, self.arrows, self.colors = {}, [], {}
        for group in tree.fromstring(svg).iter(SVG + "g"):
            lines = [text.text or "" for text in group.findall(f".//{SVG}text")]
            title = group.findtext(SVG + "title")
            if group.get("class") == "node":
                self.boxes[title] = lines
                shapes = [s for s in group.iter()
                          if s.tag in (SVG + "polygon", SVG + "path", SVG + "ellipse")]
                self.colors[title] = {s.get("fill") for s in shapes} - {"none", None, "transparent"}
            elif group.get("class") == "edge":
                tail, head = title.split("->")
                self.arrows.append((tail, head, " ".join(lines)))

    def named(self, first):
        """The boxes with that first line."""
        return [box for box, lines in self.boxes.items() if lines and lines[0] == first]

    def one(self, first):
        found = self.named(first)
        assert len(found) == 1, (first, list(self.boxes.values()))
        return found[0]

    def readers(self, box):
        return [head for tail, head, _ in self.arrows if tail == box]

    def writers(self, box):
        return [tail for tail, head, _ in self.arrows if head == box]


class Page(html.parser.HTMLParser):
    """`elements`: (tag, attributes) in order; `texts`: text by its tag; `inside`: the text of
    elements with an id."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.inside, self.open = [], {}, {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append((tag, dict(attributes).get("id")))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if self.open:
            tag, name = self.open[-1]
            self.texts.setdefault(tag, []).append(data)
            if name:
                self.inside[name] = self.inside.get(name, "") + data

    def with_attribute(self, name):
        return [(tag, attributes) for tag, attributes in self.elements if name in attributes]


def svgs(page):
    """The pictures of a page, as text."""
    return re.findall(r"<svg.*?</svg>", page, re.S)


def chart_texts(svg):
    return [text.text or "" for text in tree.fromstring(svg).iter(SVG + "text")]
