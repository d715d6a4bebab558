#include "frontend/cli/PredictionFile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "executor/base/Numeric.h"
#include "executor/base/OutputFile.h"
#include "executor/data/Npz.h"

namespace lstmc::cli {

int64_t PredictedOutput::width() const {
  return tensor.elements() / (tensor.shape[size_t(batchAxis)] * steps());
}

void PredictedOutput::read(int64_t row, int64_t step, std::vector<double> &values) const {
  values.clear();
  int64_t base = row * tensor.strides[size_t(batchAxis)];
  if (stepAxis >= 0)
    base += step * tensor.strides[size_t(stepAxis)];
  const int64_t count = width();
  for (int64_t number = 0; number < count; ++number) {
    int64_t offset = base, rest = number;
    for (int axis = tensor.rank - 1; axis >= 0; --axis) {
      if (axis == batchAxis || axis == stepAxis)
        continue;
      offset += rest % tensor.shape[size_t(axis)] * tensor.strides[size_t(axis)];
      rest /= tensor.shape[size_t(axis)];
    }
    double value = readElement<double>(tensor.data, tensor.dtype, offset);
    if (scaled())
      value = value * deviation + mean;
    values.push_back(tensor.dtype == DType::F32 ? double(float(value)) : value);
  }
}

namespace {

/// The places of the `count` highest of `values`, best first; of equal ones the first, NaN last.
void findHighest(std::span<const double> values, int64_t count, std::vector<int64_t> &places) {
  places.resize(values.size());
  std::iota(places.begin(), places.end(), 0);
  auto better = [&](int64_t a, int64_t b) {
    double x = values[size_t(a)], y = values[size_t(b)];
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) != std::isnan(y) ? std::isnan(y) : a < b;
    return x != y ? x > y : a < b;
  };
  std::partial_sort(places.begin(), places.begin() + count, places.end(), better);
  places.resize(size_t(count));
}

/// With as many digits as tell it from its neighbours.
std::string numberText(double value, DType dtype) {
  return dtype == DType::F32 ? fmt::format("{}", float(value)) : fmt::format("{}", value);
}

std::string inQuotesIfNeeded(const std::string &cell) {
  if (cell.find_first_of(",\"\r\n") == cell.npos && !cell.starts_with(' ') && !cell.ends_with(' '))
    return cell;
  std::string text = "\"";
  for (char c : cell)
    text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

/// A line for each prediction, written as they come.
class Table : public PredictionFile {
public:
  Table(PredictionRequest request, std::optional<OutputFile> file, const Console &console)
      : request_(std::move(request)), file_(std::move(file)), console_(console) {
    for (const PredictedOutput &output : request_.outputs)
      steps_ |= output.steps() > 1;
    steps_ &= !request_.text;
  }

  Status begin() {
    text_ = steps_ ? "row,step" : "row";
    text_ += request_.text ? ",symbol" : "";
    for (const PredictedOutput &output : request_.outputs)
      addHeader(output);
    return endLine();
  }

  Status add(const LineLabel &label, int64_t row, int64_t step) override {
    text_ += fmt::format("{}", label.row);
    if (steps_)
      text_ += fmt::format(",{}", label.step);
    if (request_.text)
      text_ += "," + inQuotesIfNeeded(label.symbol);
    for (const PredictedOutput &output : request_.outputs) {
      output.read(row, step, values_);
      if (request_.top > 0)
        addHighest(output);
      else
        for (double value : values_)
          text_ += "," + numberText(value, output.tensor.dtype);
    }
    return endLine();
  }

  Status finish() override {
    LSTMC_TRY(write());
    return file_ ? file_->commit() : Status();
  }

private:
  void addHeader(const PredictedOutput &output) {
    const int64_t width = output.width();
    std::string prefix = request_.outputs.size() > 1 ? output.name + "." : "";
    for (int64_t k = 1; k <= request_.top; ++k)
      text_ += "," + inQuotesIfNeeded(fmt::format("{}top{}", prefix, k)) + "," +
               inQuotesIfNeeded(fmt::format("{}score{}", prefix, k));
    for (int64_t i = 0; request_.top == 0 && i < width; ++i) {
      const std::string ofClass = output.classes.empty() ? "" : output.classes[size_t(i)];
      const std::string name = !ofClass.empty() ? fmt::format("{}{}", prefix, ofClass)
                               : width == 1     ? output.name
                                                : fmt::format("{}[{}]", output.name, i);
      text_ += "," + inQuotesIfNeeded(name);
    }
  }

  void addHighest(const PredictedOutput &output) {
    findHighest(values_, request_.top, places_);
    for (int64_t place : places_)
      text_ += fmt::format(",{},{}",
                           output.classes.empty() ? fmt::format("{}", place)
                                                  : inQuotesIfNeeded(output.classes[size_t(place)]),
                           numberText(values_[size_t(place)], output.tensor.dtype));
  }

  Status endLine() {
    text_ += '\n';
    return text_.size() < kWritten ? Status() : write();
  }

  Status write() {
    std::string text = std::exchange(text_, {});
    if (file_)
      return file_->write(text);
    console_.write(text);
    return {};
  }

  static constexpr size_t kWritten = 1 << 16; ///< bytes at once

  PredictionRequest request_;
  std::optional<OutputFile> file_;
  const Console &console_;
  bool steps_ = false; ///< whether lines say their step
  std::string text_;   ///< not written yet
  std::vector<double> values_;
  std::vector<int64_t> places_;
};

/// One array an output, or two with the places and values of the highest.
class Arrays : public PredictionFile {
public:
  explicit Arrays(PredictionRequest request) : request_(std::move(request)) {
    for (const PredictedOutput &output : request_.outputs) {
      std::vector<int64_t> shape = {request_.lines};
      for (int axis = 0; axis < output.tensor.rank; ++axis)
        if (axis != output.batchAxis && axis != output.stepAxis)
          shape.push_back(output.tensor.shape[size_t(axis)]);
      if (request_.top > 0) {
        shape.back() = request_.top;
        add(output.name + "_index", DType::I64, shape);
        add(output.name + "_score", output.tensor.dtype, shape);
      } else {
        add(output.name, output.tensor.dtype, shape);
      }
    }
  }

  Status add(const LineLabel &, int64_t row, int64_t step) override {
    auto array = arrays_.begin();
    for (const PredictedOutput &output : request_.outputs) {
      output.read(row, step, values_);
      if (request_.top == 0) {
        for (double value : values_)
          array->put(value);
        ++array;
        continue;
      }
      const size_t classes = size_t(output.tensor.shape[size_t(output.tensor.rank) - 1]);
      for (std::span<const double> rest = values_; !rest.empty(); rest = rest.subspan(classes)) {
        findHighest(rest.first(classes), request_.top, places_);
        for (int64_t place : places_) {
          array->put(double(place));
          std::next(array)->put(rest[size_t(place)]);
        }
      }
      array += 2;
    }
    return {};
  }

  Status finish() override {
    std::vector<data::NamedTensor> tensors;
    for (Growing &array : arrays_)
      tensors.push_back({array.name, array.array.tensor()});
    return data::writeArrays(request_.path, tensors, request_.existing);
  }

private:
  struct Growing {
    std::string name;
    data::Array array;
    int64_t filled = 0;
    void put(double value) { writeElement(array.bytes.data(), array.dtype, filled++, value); }
  };
  void add(std::string name, DType dtype, std::vector<int64_t> shape) {
    data::Array array{dtype, std::move(shape), {}};
    array.bytes.resize(data::arrayBytes(array.shape, dtype).value().value_or(0));
    arrays_.push_back({std::move(name), std::move(array)});
  }

  PredictionRequest request_;
  std::vector<Growing> arrays_;
  std::vector<double> values_;
  std::vector<int64_t> places_;
};

} // namespace

bool isTablePath(std::string_view path) { return path == "-" || path.ends_with(".csv"); }

Status checkPredictionPath(const std::string &path) {
  if (isTablePath(path) || path.ends_with(".npy") || path.ends_with(".npz"))
    return {};
  return fail(ErrorCode::E0001,
              "predict writes F.csv, F.npy or F.npz, or a table to stdout (-o -), "
              "got \"{}\"",
              path);
}

Result<std::unique_ptr<PredictionFile>> openPredictionFile(PredictionRequest request,
                                                           const Console &console) {
  if (!isTablePath(request.path)) {
    if (request.path.ends_with(".npy") && (request.outputs.size() > 1 || request.top > 0))
      return fail(ErrorCode::E0001, "a .npy has one array, and these are {}; -o F.npz has all",
                  request.outputs.size() * (request.top > 0 ? 2 : 1));
    return std::unique_ptr<PredictionFile>(new Arrays(std::move(request)));
  }
  std::optional<OutputFile> file;
  if (request.path != "-") {
    LSTMC_ASSIGN(OutputFile made, OutputFile::create(request.path, request.existing));
    file.emplace(std::move(made));
  }
  auto table = std::make_unique<Table>(std::move(request), std::move(file), console);
  LSTMC_TRY(table->begin());
  return std::unique_ptr<PredictionFile>(std::move(table));
}

} // namespace lstmc::cli
