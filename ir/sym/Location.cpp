#include "ir/sym/Location.h"

#include "mlir/IR/Builders.h"

#include "ir/sym/SymDialect.h"

using namespace mlir;

namespace lstmc::sym {

static constexpr int kArgumentFields = 5;

/// Number of source ranges that an encoder caches.
static constexpr size_t kKnownPlaces = 16;

static SourceText &sourceText(MLIRContext *context) {
  return context->getOrLoadDialect<SymDialect>()->sourceText();
}

static SmallVector<int64_t, 16> fieldsOf(ArrayRef<SourceRange> arguments) {
  SmallVector<int64_t, 16> fields;
  if (llvm::any_of(arguments, [](const SourceRange &argument) { return argument.line != 0; }))
    for (const SourceRange &argument : arguments)
      fields.append(
          {argument.line, argument.column, argument.byte, argument.length, argument.bytes});
  return fields;
}

Location LocationEncoder::placeOf(const SourceRange &range, ArrayRef<SourceRange> arguments) {
  SmallVector<int64_t, 16> fields = fieldsOf(arguments);
  for (const Known &known : known_)
    if (known.range.byte == range.byte && known.range.line == range.line &&
        known.range.column == range.column && known.range.length == range.length &&
        known.range.bytes == range.bytes && known.fields == fields &&
        known.range.what == range.what && known.range.file == range.file)
      return known.place;
  if (!fileAttr_ || range.file != file_) {
    file_ = range.file;
    fileAttr_ = StringAttr::get(context_, file_);
  }
  SourceText &text = sourceText(context_);
  text.add(fileAttr_, range.line, range.text);
  if (!fields.empty())
    for (const SourceRange &argument : arguments)
      if (argument.line != 0)
        text.add(fileAttr_, argument.line, argument.text);
  Attribute what = RangeAttr::get(context_, range.byte, range.length, range.bytes,
                                  StringAttr::get(context_, range.what), fields);
  Location place =
      FusedLoc::get(context_, {FileLineColLoc::get(fileAttr_, range.line, range.column)}, what);
  SourceRange bare = range;
  bare.loops.clear();
  bare.calls.clear();
  if (known_.size() < kKnownPlaces)
    known_.emplace_back();
  known_[next_] = {std::move(bare), std::move(fields), place};
  next_ = (next_ + 1) % kKnownPlaces;
  return place;
}

Location LocationEncoder::encode(const SourceRange &range, ArrayRef<SourceRange> arguments) {
  if (range.line == 0) {
    // A program without source text can still name the layer that it calls.
    Location nowhere = UnknownLoc::get(context_);
    if (range.what.empty())
      return nowhere;
    Attribute what = RangeAttr::get(context_, -1, 0, 0, StringAttr::get(context_, range.what), {});
    return FusedLoc::get(context_, {nowhere}, what);
  }
  Location place = placeOf(range, arguments);
  if (range.loops.empty() && range.calls.empty())
    return place;

  if (!frame_ || range.loops != loops_ || range.calls != calls_) {
    // Only the values differ between iterations of a loop.
    bool sameNames = loops_.size() == range.loops.size() && calls_ == range.calls;
    for (size_t i = 0; sameNames && i < loops_.size(); ++i)
      sameNames = loops_[i].first == range.loops[i].first;
    loops_ = range.loops;
    calls_ = range.calls;
    SmallVector<StringRef> loops, calls(calls_.begin(), calls_.end());
    SmallVector<int64_t> values;
    for (auto &[name, value] : loops_) {
      loops.push_back(name);
      values.push_back(value);
    }
    Builder builder(context_);
    if (auto last = dyn_cast_or_null<FrameAttr>(frame_); last && sameNames)
      frame_ = FrameAttr::get(context_, last.getLoops(), values, last.getCalls());
    else
      frame_ = FrameAttr::get(context_, builder.getStrArrayAttr(loops), values,
                              builder.getStrArrayAttr(calls));
  }
  return FusedLoc::get(context_, {place}, frame_);
}

namespace {
/// The parts of a fused location, outermost first; null if it is not one.
struct Parts {
  FrameAttr frame;
  RangeAttr range;
  FileLineColLoc file;
};
} // namespace

static Parts partsOf(Location location) {
  Parts parts;
  while (true) {
    if (auto fused = dyn_cast<FusedLoc>(location)) {
      if (auto frame = dyn_cast_or_null<FrameAttr>(fused.getMetadata()))
        parts.frame = frame;
      if (auto range = dyn_cast_or_null<RangeAttr>(fused.getMetadata()))
        parts.range = range;
      location = fused.getLocations().front();
    } else if (auto name = dyn_cast<NameLoc>(location)) {
      location = name.getChildLoc();
    } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
      location = call.getCallee();
    } else {
      parts.file = dyn_cast<FileLineColLoc>(location);
      return parts;
    }
  }
}

static void addFrame(const Parts &parts, SourceRange &range) {
  if (!parts.frame)
    return;
  for (auto [name, value] : llvm::zip(parts.frame.getLoops(), parts.frame.getValues()))
    range.loops.emplace_back(cast<StringAttr>(name).str(), value);
  for (Attribute call : parts.frame.getCalls())
    range.calls.push_back(cast<StringAttr>(call).str());
}

SourceRange decode(Location location) {
  SourceRange range;
  Parts parts = partsOf(location);
  if (parts.range)
    range.what = parts.range.getWhat().str();
  if (!parts.file)
    return range;
  range.file = parts.file.getFilename().str();
  range.line = parts.file.getLine();
  range.column = parts.file.getColumn();
  range.text = sourceText(location.getContext()).find(parts.file.getFilename(), range.line).str();
  if (parts.range) {
    range.byte = parts.range.getByte();
    range.length = parts.range.getLength();
    range.bytes = parts.range.getBytes();
  }
  addFrame(parts, range);
  return range;
}

std::optional<SourceRange> argumentPlace(Location location, unsigned index) {
  Parts parts = partsOf(location);
  if (!parts.file || !parts.range || parts.range.getArguments().size() <= kArgumentFields * index)
    return std::nullopt;
  ArrayRef<int64_t> fields =
      parts.range.getArguments().slice(kArgumentFields * index, kArgumentFields);
  if (fields[0] == 0)
    return std::nullopt;
  SourceRange range;
  range.file = parts.file.getFilename().str();
  range.line = fields[0];
  range.column = fields[1];
  range.byte = fields[2];
  range.length = fields[3];
  range.bytes = fields[4];
  range.text = sourceText(location.getContext()).find(parts.file.getFilename(), range.line).str();
  addFrame(parts, range);
  return range;
}

Location placed(Location around, const SourceRange &place) {
  return LocationEncoder(around.getContext()).encode(place);
}

std::string loopsText(const SourceRange &range) {
  std::string text;
  for (auto &[name, value] : range.loops)
    text += (text.empty() ? "for " : ", ") + name + " = " + std::to_string(value);
  return text;
}

std::string atText(Location location) {
  SourceRange range = decode(location);
  if (range.line == 0)
    return {};
  std::string text =
      " at " + range.file + ":" + std::to_string(range.line) + ":" + std::to_string(range.column);
  if (std::string loops = loopsText(range); !loops.empty())
    text += ", " + loops;
  return text;
}

} // namespace lstmc::sym
