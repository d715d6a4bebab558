// diff: what differs between two sets of weights, checkpoints or packages, by name.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include <fmt/ranges.h>

#include "executor/base/Numeric.h"
#include "executor/package/Plan.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiffSides.h"
#include "frontend/cli/Ulp.h"

namespace lstmc::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Between two items of one name.
struct Difference {
  const DiffItem *a, *b;
  std::string what;             ///< of facts, and of tensors of two shapes or types
  int64_t count = 0;            ///< elements that differ
  int64_t first = 0, worst = 0; ///< elements
  double ulp = 0, absolute = 0; ///< at the worst, and at most
};

std::string typeOf(const data::Array &array) { return package::typeText(array.dtype, array.shape); }

/// [1, 7] of element 7 + 1 * 10 of [n, 10].
std::vector<int64_t> indexOf(const data::Array &array, int64_t element) {
  std::vector<int64_t> index(array.shape.size());
  for (size_t axis = index.size(); axis-- > 0; element /= array.shape[axis])
    index[axis] = element % array.shape[axis];
  return index;
}

double elementAt(const data::Array &array, int64_t i) {
  return readElement<double>(array.bytes.data(), array.dtype, i);
}

/// Without a tolerance, bits are compared.
std::optional<Difference> compare(const DiffItem &a, const DiffItem &b,
                                  const std::optional<Tolerance> &tolerance) {
  Difference difference{&a, &b, "", 0, 0, 0, 0, 0};
  if (!a.tensor || !b.tensor) {
    difference.what = fmt::format("{} and {}", a.tensor ? typeOf(*a.tensor) : a.fact,
                                  b.tensor ? typeOf(*b.tensor) : b.fact);
    return a.fact == b.fact && a.tensor.has_value() == b.tensor.has_value()
               ? std::nullopt
               : std::optional(difference);
  }
  if (a.tensor->dtype != b.tensor->dtype || a.tensor->shape != b.tensor->shape) {
    difference.what = fmt::format("{} and {}", typeOf(*a.tensor), typeOf(*b.tensor));
    return difference;
  }
  if (a.tensor->bytes == b.tensor->bytes)
    return std::nullopt;
  size_t size = dtypeBytes(a.tensor->dtype);
  for (int64_t i = 0; i < int64_t(a.tensor->bytes.size() / size); ++i) {
    if (std::memcmp(a.tensor->bytes.data() + size_t(i) * size,
                    b.tensor->bytes.data() + size_t(i) * size, size) == 0)
      continue;
    double x = elementAt(*a.tensor, i), y = elementAt(*b.tensor, i);
    if (tolerance && tolerance->near(a.tensor->dtype, x, y))
      continue;
    if (difference.count++ == 0)
      difference.first = i;
    // A NaN on one side is further than any number.
    double absolute = std::isnan(x) == std::isnan(y) ? std::fabs(x - y) : INFINITY;
    if (difference.count == 1 || absolute > difference.absolute) {
      difference.worst = i;
      difference.absolute = std::isnan(absolute) ? 0 : absolute;
    }
    double ulp = ulps(a.tensor->dtype, x, y);
    difference.ulp = std::max(difference.ulp, std::isnan(ulp) ? INFINITY : ulp);
  }
  return difference.count > 0 ? std::optional(difference) : std::nullopt;
}

struct Comparison {
  std::vector<Difference> differences; ///< in the order of the first file
  std::vector<std::string> onlyInA, onlyInB;
  size_t compared = 0;

  bool equal() const { return differences.empty() && onlyInA.empty() && onlyInB.empty(); }
};

Comparison compare(const DiffSide &a, const DiffSide &b,
                   const std::optional<Tolerance> &tolerance) {
  std::map<std::string_view, const DiffItem *> inB;
  for (const DiffItem &item : b.items)
    inB[item.name] = &item;
  Comparison comparison;
  std::map<std::string_view, bool> inA;
  for (const DiffItem &item : a.items) {
    inA[item.name] = true;
    auto other = inB.find(item.name);
    if (other == inB.end()) {
      comparison.onlyInA.push_back(item.name);
      continue;
    }
    ++comparison.compared;
    if (std::optional<Difference> difference = compare(item, *other->second, tolerance))
      comparison.differences.push_back(*difference);
  }
  for (const DiffItem &item : b.items)
    if (!inA.contains(item.name))
      comparison.onlyInB.push_back(item.name);
  return comparison;
}

/// Largest first: what is no number, then by absolute difference; equals as in the file.
std::vector<Difference> largest(std::vector<Difference> differences, size_t most) {
  std::ranges::sort(differences, {}, [](const Difference &difference) {
    return std::tuple(difference.what.empty(), -difference.absolute, difference.a);
  });
  differences.resize(std::min(differences.size(), most));
  return differences;
}

std::string lineOf(const Difference &difference) {
  const package::Location &at =
      difference.a->location.line ? difference.a->location : difference.b->location;
  return at.line ? fmt::format("  {}:{}", at.file, at.line) : "";
}

std::string text(const Difference &difference, int64_t element) {
  if (!difference.what.empty())
    return fmt::format("{}: {}{}", difference.a->name, difference.what, lineOf(difference));
  const data::Array &a = *difference.a->tensor, &b = *difference.b->tensor;
  double x = elementAt(a, element), y = elementAt(b, element);
  return fmt::format("{}[{}]: {:.9g} and {:.9g}, {:.4g} ulp, {:.3g}; {} of {} elements{}",
                     difference.a->name, fmt::join(indexOf(a, element), ", "), x, y,
                     ulps(a.dtype, x, y), std::fabs(x - y), difference.count,
                     int64_t(a.bytes.size() / dtypeBytes(a.dtype)), lineOf(difference));
}

Json json(const Difference &difference) {
  auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const package::Location &at =
      difference.a->location.line ? difference.a->location : difference.b->location;
  bool numbers = difference.what.empty();
  return {
      {"name", difference.a->name},
      {"ulp", numbers ? finite(difference.ulp) : Json()},
      {"absolute", numbers ? finite(difference.absolute) : Json()},
      {"what", difference.what},
      {"elements", difference.count},
      {"index", numbers ? Json(indexOf(*difference.a->tensor, difference.worst)) : Json::array()},
      {"file", at.line ? Json(at.file) : Json()},
      {"line", at.line ? Json(at.line) : Json()}};
}

void print(const Comparison &comparison, const DiffSide &a, const DiffSide &b, Console &console) {
  constexpr size_t kLargest = 5;
  if (console.json()) {
    Json list = Json::array();
    for (const Difference &difference : largest(comparison.differences, kLargest))
      list.push_back(json(difference));
    return console.print(
        Json{{"schema", "lstmc.diff/1"},
             {"equal", comparison.equal()},
             {"first", comparison.differences.empty() ? Json() : json(comparison.differences[0])},
             {"largest", list},
             {"compared", comparison.compared},
             {"differ", comparison.differences.size()},
             {"only_in_a", comparison.onlyInA},
             {"only_in_b", comparison.onlyInB}});
  }
  for (const auto &[side, names] : {std::pair(&a, &comparison.onlyInA), {&b, &comparison.onlyInB}})
    if (!names->empty())
      console.print(fmt::format("only in {}: {}", side->path, fmt::join(*names, ", ")));
  if (comparison.equal())
    return console.print(fmt::format("equal: {} of {}", comparison.compared, a.path));
  console.print(fmt::format("{} of {} differ", comparison.differences.size(), comparison.compared));
  if (!comparison.differences.empty())
    console.print("first     " + text(comparison.differences[0], comparison.differences[0].first));
  std::string head = "largest   ";
  for (const Difference &difference : largest(comparison.differences, kLargest)) {
    console.print(head + text(difference, difference.worst));
    head = "          ";
  }
}

} // namespace

CommandResult diffCommand(const Options &options, Console &console) {
  if (options.operands.size() != 2)
    return fail(ErrorCode::E0001, "diff takes two files, got {}", options.operands.size());
  std::vector<DiffSide> sides;
  for (const std::string &path : options.operands) {
    LSTMC_CHECKED_ASSIGN(sides.emplace_back(), diffSide(path, options));
  }
  std::optional<Tolerance> tolerance;
  if (options.ulp.given() || options.rtol.given() || options.atol.given())
    tolerance = Tolerance::asked(options);
  Comparison comparison = compare(sides[0], sides[1], tolerance);
  print(comparison, sides[0], sides[1], console);
  return comparison.equal() ? ExitCode::Ok : ExitCode::AnswerIsNo;
}

} // namespace lstmc::cli
