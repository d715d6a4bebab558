#include "executor/data/DataSpec.h"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/ranges.h>

#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"

namespace lstmc::data {
namespace {

constexpr DataKindRecord kKinds[] = {
    {"text", "text:FILE", "a text, by characters, words or bytes; the label is the next symbol",
     false},
    {"csv", "csv:FILE", "windows of a table's rows, scaled, and the value after each", false},
    {"npz", "npz:FILE", "arrays with the names of the inputs", false},
    {"npy", "npy:data=FILE,label=FILE", "an array for each input", true},
    {"idx", "idx:data=FILE,label=FILE", "images and labels in the format of MNIST", true},
    {"random", "random:SEED", "random values for any input", false},
};

constexpr DataKeyRecord kKeys[] = {
    {"unit", "char|word|byte", "text", "what a symbol is"},
    {"vocab", "FILE", "text", "the symbols, one a line; else those of the training text"},
    {"lines", "yes|no", "text",
     "each line is a sequence, filled up to the input's steps; the input length gets its number of "
     "symbols (no: one stream)"},
    {"inputs", "A|B", "csv", "columns to predict from; else all"},
    {"target", "C", "csv", "the column to predict"},
    {"window", "N", "csv", "rows in a window; else as the input has steps"},
    {"horizon", "N", "csv", "rows from the last of a window to its target (1)"},
    {"sequence", "ID", "csv",
     "rows that are equal in this column are one sequence, filled up to the input's steps; the "
     "input length gets its number of rows"},
    {"buckets", "10|20|40", "text csv",
     "of lines or sequences: each is filled up to the first of these steps that holds it, in a "
     "batch of its like; longer ones "
     "are left out"},
    {"na", "TEXT", "csv", "a cell that is missing (NA)"},
    {"fill", "refuse|previous|drop", "csv",
     "what to do with it: refuse, take the row before, leave the window out"},
    {"valid", "0.1", "text csv npz npy idx", "share at the end that is kept for validation"},
    {"shuffle", "yes|no", "csv npz npy idx", "a new order in each epoch (yes)"},
    {"classes", "N", "idx random", "labels are below this"},
    {"batches", "N", "random", "batches in an epoch (100)"},
};

const DataKindRecord &record(DataKind kind) { return kKinds[size_t(kind)]; }

/// The keys of a kind.
std::vector<std::string_view> keysOf(DataKind kind) {
  std::vector<std::string_view> names;
  for (const DataKeyRecord &key : kKeys)
    if ((" " + std::string(key.kinds) + " ").find(" " + std::string(record(kind).name) + " ") !=
        std::string::npos)
      names.push_back(key.name);
  return names;
}

/// "text:FILE, csv:FILE, ... or random:SEED"
std::string formsOfKinds() {
  std::string forms;
  for (const DataKindRecord &kind : kKinds) {
    const bool isLast = &kind == std::end(kKinds) - 1;
    forms += forms.empty() ? "" : isLast ? " or " : ", ";
    forms += kind.namedFiles ? fmt::format("{}:NAME=FILE", kind.name) : std::string(kind.form);
  }
  return forms;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == text.npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

Error badValue(std::string_view key, std::string_view value, std::string_view want) {
  return fail(ErrorCode::E0001, "data key {}: found {}, want {}", key, inQuotes(value), want);
}

Status setCount(int64_t &to, std::string_view key, std::string_view value) {
  std::optional<int64_t> number = parseNumber<int64_t>(value);
  if (!number || *number < 1)
    return badValue(key, value, "a whole number from 1");
  to = *number;
  return {};
}

/// "10|20|40", or with commas as a list of a file is written.
Status setBuckets(std::vector<int64_t> &to, std::string_view value) {
  to.clear();
  for (std::string_view part : split(value, value.find('|') == value.npos ? ',' : '|'))
    LSTMC_TRY(setCount(to.emplace_back(), "buckets", part));
  std::ranges::sort(to);
  if (std::ranges::adjacent_find(to) != to.end())
    return badValue("buckets", value, "different numbers of steps");
  return {};
}

} // namespace

std::string_view dataKindName(DataKind kind) { return record(kind).name; }

std::span<const DataKindRecord> dataKinds() { return kKinds; }
std::span<const DataKeyRecord> dataKeys() { return kKeys; }

Status DataSpec::set(std::string_view key, std::string_view value) {
  const std::vector<std::string_view> known = keysOf(kind);
  if (std::find(known.begin(), known.end(), key) == known.end())
    return fail(ErrorCode::E0001, "data key {} is unknown for {}; there are {}", inQuotes(key),
                dataKindName(kind), fmt::join(known, ", "));
  if (key == "unit") {
    std::optional<TextUnit> found = parseTextUnit(value);
    if (!found)
      return badValue(key, value, "char, word or byte");
    unit = found;
  } else if (key == "vocab") {
    vocabularyFile = value;
  } else if (key == "valid") {
    std::optional<double> fraction = parseNumber<double>(value);
    if (!fraction || !(*fraction >= 0 && *fraction < 1))
      return badValue(key, value, "a fraction from 0 to below 1");
    valid = *fraction;
  } else if (key == "shuffle") {
    if (value != "yes" && value != "no")
      return badValue(key, value, "yes or no");
    shuffle = value == "yes";
  } else if (key == "lines") {
    if (value != "yes" && value != "no")
      return badValue(key, value, "yes or no");
    lines = value == "yes";
  } else if (key == "buckets") {
    return setBuckets(buckets, value);
  } else if (key == "inputs") {
    inputs.clear();
    for (std::string_view column : split(value, '|'))
      inputs.emplace_back(column);
  } else if (key == "target") {
    target = value;
  } else if (key == "sequence") {
    sequence = value;
  } else if (key == "na") {
    missing = value;
  } else if (key == "fill") {
    if (value != "refuse" && value != "previous" && value != "drop")
      return badValue(key, value, "refuse, previous or drop");
    fill = value == "refuse" ? Fill::Refuse : value == "drop" ? Fill::Drop : Fill::Previous;
  } else {
    int64_t &count = key == "window"    ? window
                     : key == "horizon" ? horizon
                     : key == "classes" ? classes
                                        : batches;
    return setCount(count, key, value);
  }
  return {};
}

Result<DataSpec> DataSpec::parse(std::string_view text) {
  DataSpec spec;
  spec.source = text;
  size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  const auto found = std::ranges::find(kKinds, name, &DataKindRecord::name);
  if (colon == text.npos || found == std::end(kKinds))
    return fail(ErrorCode::E0001, "data {}: found no kind, want {}", inQuotes(text),
                formsOfKinds());
  spec.kind = DataKind(found - std::begin(kKinds));
  std::vector<std::string_view> parts = split(text.substr(colon + 1), ',');
  std::span<std::string_view> rest = parts;
  if (!record(spec.kind).namedFiles) {
    std::string_view first = rest[0];
    rest = rest.subspan(1);
    if (first.empty())
      return fail(ErrorCode::E0001, "data {}: found nothing after the colon, want a {}",
                  inQuotes(text), spec.kind == DataKind::Random ? "seed" : "file");
    if (spec.kind == DataKind::Random) {
      std::optional<uint64_t> seed = parseNumber<uint64_t>(first);
      if (!seed)
        return badValue("seed", first, "a whole number from 0");
      spec.seed = *seed;
    } else {
      spec.files.emplace_back("", first);
    }
  }
  const std::vector<std::string_view> keys = keysOf(spec.kind);
  std::set<std::string_view> given;
  for (std::string_view part : rest) {
    size_t equals = part.find('=');
    std::string_view key = part.substr(0, equals);
    if (equals == part.npos || key.empty())
      return fail(ErrorCode::E0001,
                  "data {}: found {}, want KEY=VALUE: a comma ends the name of a file",
                  inQuotes(text), inQuotes(part));
    std::string_view value = part.substr(equals + 1);
    bool isKey = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (isKey && !given.insert(key).second)
      return fail(ErrorCode::E0001, "data {}: found {} twice, want once", inQuotes(text), key);
    if (!record(spec.kind).namedFiles || isKey) {
      LSTMC_TRY(spec.set(key, value));
      continue;
    }
    for (const auto &[input, file] : spec.files)
      if (input == key)
        return fail(ErrorCode::E0001, "data {}: found input {} twice, want once", inQuotes(text),
                    inQuotes(key));
    spec.files.emplace_back(key, value);
  }
  if (record(spec.kind).namedFiles && spec.files.empty())
    return fail(ErrorCode::E0001, "data {}: found no files, want NAME=FILE", inQuotes(text));
  return spec;
}

} // namespace lstmc::data
