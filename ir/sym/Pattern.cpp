#include "ir/sym/Pattern.h"

#include <algorithm>

#include "executor/base/Utf8.h"

namespace lstmc::sym {

namespace {

using Kind = Pattern::State::Kind;
using Range = Pattern::Range;

constexpr char32_t kLast = 0x10ffff;
constexpr int kMostDepth = 200;
constexpr int64_t kNoMost = -1;

/// An expression as it is written.
struct Node {
  enum class Kind { Set, Edge, Sequence, Choice, Repeat } kind = Kind::Sequence;
  Pattern::State state;              ///< of Set and Edge: characters, or what is asked of a place
  std::vector<Node> parts;           ///< of Sequence, Choice and Repeat
  int64_t least = 0, most = kNoMost; ///< of Repeat
};

Node edge(Kind kind) {
  Node node;
  node.kind = Node::Kind::Edge;
  node.state.kind = kind;
  return node;
}

struct Refused {
  std::string why;
};

std::vector<Range> rangesOf(char32_t letter) {
  switch (letter) {
  case 'd':
    return {{'0', '9'}};
  case 'w':
    return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  default: // s
    return {{'\t', '\r'}, {' ', ' '}};
  }
}

/// All characters that are in none of `ranges`, which are in ascending order.
std::vector<Range> others(const std::vector<Range> &ranges) {
  std::vector<Range> left;
  char32_t first = 0;
  for (const Range &range : ranges) {
    if (range.first > first)
      left.push_back({first, range.first - 1});
    first = range.last + 1;
  }
  left.push_back({first, kLast});
  return left;
}

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  Node run() {
    Node node = choice(0);
    if (!ended_)
      refuse("a \")\" without a \"(\"");
    return node;
  }

private:
  [[noreturn]] static void refuse(std::string why) { throw Refused{std::move(why)}; }

  void advance() {
    ended_ = at_ >= text_.size();
    if (ended_)
      return;
    const int length = decodeUtf8(text_.substr(at_), now_);
    if (length == 0)
      refuse("bytes that are not UTF-8");
    at_ += size_t(length);
  }
  bool is(char32_t c) const { return !ended_ && now_ == c; }
  bool take(char32_t c) {
    if (!is(c))
      return false;
    advance();
    return true;
  }

  Node choice(int depth) {
    if (depth > kMostDepth)
      refuse("more than 200 groups within one another");
    Node node;
    node.kind = Node::Kind::Choice;
    do
      node.parts.push_back(sequence(depth));
    while (take('|'));
    return node;
  }

  Node sequence(int depth) {
    Node node;
    while (!ended_ && !is('|') && !is(')'))
      node.parts.push_back(repeated(depth));
    return node;
  }

  Node repeated(int depth) {
    Node node = atom(depth);
    bool isRepeated = false;
    while (!ended_) {
      int64_t least = 0, most = kNoMost;
      if (is('*') || is('+') || is('?')) {
        least = is('+');
        most = is('?') ? 1 : kNoMost;
        advance();
      } else if (!is('{') || !counts(least, most)) {
        break;
      }
      if (isRepeated)
        refuse("a repetition of a repetition: write a group");
      if (is('+'))
        refuse("a possessive repetition");
      take('?'); // what is matched first changes nothing about whether it matches
      isRepeated = true;
      Node all;
      all.kind = Node::Kind::Repeat;
      all.least = least;
      all.most = most;
      all.parts.push_back(std::move(node));
      node = std::move(all);
    }
    return node;
  }

  /// {m}, {m,}, {,n} or {m,n}; anything else in braces is text, as in Python.
  bool counts(int64_t &least, int64_t &most) {
    const size_t end = text_.find('}', at_);
    if (end == text_.npos)
      return false;
    const std::string_view inside = text_.substr(at_, end - at_);
    const size_t comma = inside.find(',');
    auto number = [&](std::string_view digits, int64_t absent) -> std::optional<int64_t> {
      if (digits.empty())
        return absent;
      int64_t value = 0;
      for (char c : digits) {
        if (c < '0' || c > '9')
          return std::nullopt;
        value = std::min<int64_t>(value * 10 + (c - '0'), int64_t(Pattern::kMostStates) + 1);
      }
      return value;
    };
    std::optional<int64_t> low = number(inside.substr(0, comma), 0), high = low;
    if (inside.empty() || inside == ",")
      return false;
    if (comma != inside.npos)
      high = number(inside.substr(comma + 1), kNoMost);
    if (!low || !high)
      return false;
    if (*high != kNoMost && *high < *low)
      refuse("a repetition from " + std::to_string(*low) + " to " + std::to_string(*high));
    least = *low;
    most = *high;
    at_ = end + 1;
    advance();
    return true;
  }

  Node atom(int depth) {
    const char32_t c = now_;
    if (c == '*' || c == '+' || c == '?')
      refuse("nothing before a repetition");
    advance();
    switch (c) {
    case '(':
      return group(depth);
    case '[':
      return set();
    case '.':
      return characters({{'\n', '\n'}}, true);
    case '^':
      return edge(Kind::Begin);
    case '$':
      return edge(Kind::End);
    case '\\':
      return escape();
    default:
      return characters({{c, c}});
    }
  }

  static Node characters(std::vector<Range> ranges, bool negated = false) {
    Node node;
    node.kind = Node::Kind::Set;
    node.state.kind = Kind::Set;
    node.state.set = std::move(ranges);
    node.state.negated = negated;
    return node;
  }

  Node group(int depth) {
    if (take('?')) {
      if (take('P')) {
        if (!take('<'))
          refuse("a reference to a group");
        while (!ended_ && !is('>'))
          advance();
        if (!take('>'))
          refuse("a name of a group without an end");
      } else if (!take(':')) {
        refuse("lookaround, or flags of a group");
      }
    }
    Node node = choice(depth + 1);
    if (!take(')'))
      refuse("a \"(\" without a \")\"");
    return node;
  }

  Node escape() {
    if (ended_)
      refuse("a backslash at the end");
    const char32_t c = now_;
    advance();
    switch (c) {
    case 'd':
    case 'w':
    case 's':
      return characters(rangesOf(c));
    case 'D':
    case 'W':
    case 'S':
      return characters(rangesOf(c - 'A' + 'a'), true);
    case 'b':
      return edge(Kind::Edge);
    case 'B':
      return edge(Kind::NoEdge);
    case 'A':
      return edge(Kind::Begin);
    case 'Z':
      return edge(Kind::End);
    default:
      return characters({{literal(c), literal(c)}});
    }
  }

  static char32_t literal(char32_t c) {
    switch (c) {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      if (c >= '0' && c <= '9')
        refuse("a reference to a group");
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        refuse("an escape that is not known here");
      return c;
    }
  }

  Node set() {
    const bool negated = take('^');
    std::vector<Range> ranges;
    for (bool first = true; first || !is(']'); first = false) {
      if (ended_)
        refuse("a \"[\" without a \"]\"");
      std::optional<char32_t> low = member(ranges);
      // A "-" at the end of a set is itself.
      if (!is('-') || at_ >= text_.size() || text_[at_] == ']') {
        if (low)
          ranges.push_back({*low, *low});
        continue;
      }
      advance();
      std::optional<char32_t> high = member(ranges);
      if (!low || !high || *high < *low)
        refuse("a range of a set that is none");
      ranges.push_back({*low, *high});
    }
    advance();
    return characters(std::move(ranges), negated);
  }

  /// A character of a set; nothing where a whole class was added.
  std::optional<char32_t> member(std::vector<Range> &ranges) {
    char32_t c = now_;
    advance();
    if (c != '\\')
      return c;
    if (ended_)
      refuse("a backslash at the end");
    c = now_;
    advance();
    if (c == 'd' || c == 'w' || c == 's') {
      for (const Range &range : rangesOf(c))
        ranges.push_back(range);
      return std::nullopt;
    }
    if (c == 'D' || c == 'W' || c == 'S') {
      for (const Range &range : others(rangesOf(c - 'A' + 'a')))
        ranges.push_back(range);
      return std::nullopt;
    }
    return c == 'b' ? '\b' : literal(c);
  }

  std::string_view text_;
  size_t at_ = 0;
  char32_t now_ = 0;
  bool ended_ = false;
};

class Compiler {
public:
  std::vector<Pattern::State> run(const Node &node) {
    write(node);
    add(Kind::Match);
    return std::move(states_);
  }

private:
  size_t add(Kind kind) {
    if (states_.size() >= Pattern::kMostStates)
      throw Refused{"more than " + std::to_string(Pattern::kMostStates) +
                    " states: repetitions of repetitions multiply"};
    states_.emplace_back().kind = kind;
    states_.back().next = states_.size();
    return states_.size() - 1;
  }

  void write(const Node &node) {
    switch (node.kind) {
    case Node::Kind::Set:
    case Node::Kind::Edge: {
      const size_t next = add(node.state.kind) + 1;
      states_.back() = node.state;
      states_.back().next = next;
      return;
    }
    case Node::Kind::Sequence:
      for (const Node &part : node.parts)
        write(part);
      return;
    case Node::Kind::Choice:
      return writeChoice(node);
    case Node::Kind::Repeat:
      return writeRepeat(node);
    }
  }

  void writeChoice(const Node &node) {
    std::vector<size_t> ends;
    for (size_t i = 0; i + 1 < node.parts.size(); ++i) {
      const size_t split = add(Kind::Split);
      write(node.parts[i]);
      ends.push_back(add(Kind::Jump));
      states_[split].other = states_.size();
    }
    write(node.parts.back());
    for (size_t end : ends)
      states_[end].next = states_.size();
  }

  void writeRepeat(const Node &node) {
    const Node &part = node.parts.front();
    for (int64_t i = 0; i < node.least; ++i)
      writeCounted(part);
    if (node.most == kNoMost) {
      const size_t split = add(Kind::Split);
      write(part);
      states_[add(Kind::Jump)].next = split;
      states_[split].other = states_.size();
      return;
    }
    std::vector<size_t> splits;
    for (int64_t i = node.least; i < node.most; ++i) {
      splits.push_back(add(Kind::Split));
      writeCounted(part);
    }
    for (size_t split : splits)
      states_[split].other = states_.size();
  }

  /// Each counts, so that repetitions of nothing end too.
  void writeCounted(const Node &part) {
    add(Kind::Jump);
    write(part);
  }

  std::vector<Pattern::State> states_;
};

std::vector<Pattern::State> compiled(std::string_view text) {
  return Compiler().run(Parser(text).run());
}

bool isWord(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool holds(const Pattern::State &state, char32_t c) {
  return std::ranges::any_of(state.set, [&](const Range &r) {
           return r.first <= c && c <= r.last;
         }) != state.negated;
}

/// The states that a machine is in at one place of a name.
class States {
public:
  explicit States(const std::vector<Pattern::State> &machine)
      : machine_(&machine), isIn_(machine.size(), false) {}

  struct Place {
    bool begins, ends, isEdge;
  };

  /// Adds a state and what it leads to without a character; true if that is the end.
  bool add(size_t first, const Place &place) {
    pending_ = {first};
    while (!pending_.empty()) {
      const size_t at = pending_.back();
      pending_.pop_back();
      if (isIn_[at])
        continue;
      isIn_[at] = true;
      const Pattern::State &state = (*machine_)[at];
      switch (state.kind) {
      case Kind::Match:
        return true;
      case Kind::Set:
        reading.push_back(at);
        break;
      case Kind::Split:
        pending_.push_back(state.other);
        [[fallthrough]];
      case Kind::Jump:
        pending_.push_back(state.next);
        break;
      case Kind::Begin:
      case Kind::End:
      case Kind::Edge:
      case Kind::NoEdge:
        if (state.kind == Kind::Begin  ? place.begins
            : state.kind == Kind::End  ? place.ends
            : state.kind == Kind::Edge ? place.isEdge
                                       : !place.isEdge)
          pending_.push_back(state.next);
        break;
      }
    }
    return false;
  }
  void clear() {
    isIn_.assign(isIn_.size(), false);
    reading.clear();
  }

  std::vector<size_t> reading; ///< those that wait for a character

private:
  const std::vector<Pattern::State> *machine_;
  std::vector<bool> isIn_;
  std::vector<size_t> pending_;
};

} // namespace

std::optional<std::string> Pattern::problemOf(std::string_view text) {
  try {
    (void)compiled(text);
    return std::nullopt;
  } catch (Refused &refused) {
    return std::move(refused.why);
  }
}

Pattern::Pattern(std::string_view text) {
  try {
    states_ = compiled(text);
  } catch (const Refused &) {
    states_.clear();
  }
}

bool Pattern::matchesBegin(std::string_view name) const {
  if (states_.empty())
    return false;
  States now(states_), then(states_);
  char32_t before = 0, next = 0;
  int length = decodeUtf8(name, next);
  auto place = [&](bool begins) {
    const bool after = length > 0 && isWord(next);
    return States::Place{begins, name.empty(), isWord(before) != after};
  };
  if (now.add(0, place(true)))
    return true;
  while (length > 0 && !now.reading.empty()) {
    const char32_t c = next;
    name.remove_prefix(size_t(length));
    length = decodeUtf8(name, next);
    before = c;
    then.clear();
    for (size_t at : now.reading)
      if (holds(states_[at], c) && then.add(states_[at].next, place(false)))
        return true;
    std::swap(now, then);
  }
  return false;
}

} // namespace lstmc::sym
