// Networks and the compiler from C++20: header only, over lstmc_compiler.h.
//
//   const lstmc::Network network = lstmc::Network::open("net.lnet");
//   const lstmc::Package package = lstmc::compile(network, {.dims = {{"batch", 8}}});
#ifndef LSTMC_NETWORK_HPP
#define LSTMC_NETWORK_HPP

#include <lstmc/lstmc.hpp>
#include <lstmc/lstmc_compiler.h>
#include <lstmc/options.hpp>

#include <cstdio>
#include <source_location>

namespace lstmc {
inline namespace LSTMC_ABI {

class Network;

namespace detail {

inline lstmc_place place_of(const std::source_location &place) noexcept {
  return {place.file_name(), place.line(), place.column()};
}
inline std::string text_of(const std::source_location &place) {
  return std::string(place.file_name()) + ':' + std::to_string(place.line()) + ':' +
         std::to_string(place.column());
}

/// The error of the last call of this thread: the first diagnostic's parts, the text of all, and
/// the reasons of all.
inline Error compiler_error(lstmc_status status) {
  lstmc_diagnostic found = {};
  found.size = sizeof found;
  if (lstmc_compiler_diagnostic(0, &found) != LSTMC_OK)
    return Error::make(static_cast<Status>(status), "", {"the compiler failed"});
  std::vector<std::string> reasons;
  lstmc_diagnostic each = {};
  each.size = sizeof each;
  for (std::size_t i = 0; lstmc_compiler_diagnostic(i, &each) == LSTMC_OK; ++i)
    for (std::size_t r = 0; const char *reason = lstmc_compiler_reason(i, r); ++r)
      reasons.emplace_back(reason);
  std::string_view text = lstmc_compiler_message();
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  return Error::drawn(static_cast<Status>(status), found.code, found.message, found.place, text,
                      std::move(reasons));
}

inline void log_warnings(const Log &log) {
  lstmc_diagnostic found = {};
  found.size = sizeof found;
  for (std::size_t i = 0; log && lstmc_compiler_diagnostic(i, &found) == LSTMC_OK; ++i)
    log(found.text);
}

struct CloseCompiled {
  void operator()(lstmc_network *network) const noexcept { lstmc_network_close(network); }
  void operator()(lstmc_plan *plan) const noexcept { lstmc_plan_close(plan); }
  void operator()(lstmc_bytes *bytes) const noexcept { lstmc_bytes_free(bytes); }
};

/// Options as the C interface takes them, which points into the texts.
class OptionList {
public:
  explicit OptionList(const CompileOptions &options) {
    list_options(options, [this](const char *name, std::string value) {
      names_.push_back(name);
      values_.push_back(std::move(value));
    });
    for (std::size_t i = 0; i < names_.size(); ++i)
      options_.push_back({names_[i], values_[i].c_str()});
  }
  const lstmc_option *data() const noexcept { return options_.data(); }
  std::size_t size() const noexcept { return options_.size(); }

private:
  std::vector<const char *> names_;
  std::vector<std::string> values_;
  std::vector<lstmc_option> options_;
};

Result<Network> network_of(lstmc_status status, lstmc_network *made);

} // namespace detail

/// What a compilation needs, before anything runs. Copies are references.
class Plan {
public:
  /// Bytes of the device that needs most.
  std::uint64_t peak() const noexcept { return lstmc_plan_peak(plan_.get()); }
  /// As `lstmc plan` prints it.
  std::string table() const { return lstmc_plan_table(plan_.get()); }
  /// lstmc.plan/1.
  std::string json() const { return lstmc_plan_json(plan_.get()); }
  /// Of an update, else of a forward, on this machine.
  double forecast_ms() const noexcept { return lstmc_plan_seconds(plan_.get()) * 1e3; }

private:
  friend class Network;
  explicit Plan(std::shared_ptr<const lstmc_plan> plan) noexcept : plan_(std::move(plan)) {}
  std::shared_ptr<const lstmc_plan> plan_;
};

struct PlotOptions {
  enum class View {
    layers,  ///< the network as it is written
    program, ///< its launches over time
    memory   ///< what is where when
  } view = View::layers;
  CompileOptions compile{};
};

/// What a file leaves open, and what belongs to it.
struct OpenOptions {
  Dims dims{}; ///< values of dims and of other integer settings
  /// Shapes of inputs, for MXNet's symbol.json, which does not say them: all is then known of it.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes{};
  std::string weights{}; ///< a file of them, for weights()
};

/// A network: a text, a file of any known kind, or what a build::Net was finished to. Immutable;
/// copies are references; any number of threads may use one.
class Network {
public:
  using Place = std::source_location;

  /// .lnet, MXNet's symbol.json, or weights of torch.nn, Keras and TensorFlow (F.safetensors),
  /// whose network is what `lstmc import` makes of them, with what it assumes as comments of the
  /// text that save() writes. A file is read now for its errors, and again by each compilation.
  /// Status::bad_file, invalid_model.
  static Result<Network> try_open(const std::string &path, const OpenOptions &options = {},
                                  Place place = Place::current()) noexcept {
    return detail::attempt([&]() -> Result<Network> {
      CompileOptions given;
      given.dims = options.dims;
      given.shapes = options.shapes;
      const detail::OptionList list(given);
      const lstmc_place at = detail::place_of(place);
      lstmc_network *made = nullptr;
      const auto status =
          lstmc_network_open_with(path.c_str(), list.data(), list.size(), &at, &made);
      Result<Network> network = detail::network_of(status, made);
      if (network)
        network->weights_ = options.weights;
      return network;
    });
  }
  /// With a file of weights, for weights().
  static Result<Network> try_open(const std::string &path, const std::string &weights,
                                  Place place = Place::current()) noexcept {
    return detail::attempt([&] {
      OpenOptions options;
      options.weights = weights;
      return try_open(path, options, place);
    });
  }
  /// A text in the language of .lnet; messages show `name`.
  static Result<Network> try_parse(std::string_view text,
                                   const std::string &name = "net.lnet") noexcept {
    return detail::attempt([&]() -> Result<Network> {
      lstmc_network *made = nullptr;
      const auto status = lstmc_network_parse(name.c_str(), text.data(), text.size(), &made);
      return detail::network_of(status, made);
    });
  }

  /// Inputs and parameters with their inferred shapes; roles are "data", "label" and "parameter".
  /// Empty for a source that leaves shapes open.
  std::vector<TensorInfo> arguments() const {
    std::vector<TensorInfo> all;
    lstmc_tensor_info found = {};
    found.size = sizeof found;
    for (std::size_t i = 0; lstmc_network_argument(handle(), i, &found) == LSTMC_OK; ++i)
      all.push_back(detail::info_of(found));
    return all;
  }
  std::vector<std::string> outputs() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; const char *name = lstmc_network_output(handle(), i); ++i)
      names.emplace_back(name);
    return names;
  }
  /// Equal for equal graphs, whatever made them.
  std::string hash() const { return lstmc_network_hash(handle()); }

  /// What compile() with these options needs. Errors as its.
  Result<Plan> try_plan(const CompileOptions &options = {},
                        Place place = Place::current()) const noexcept {
    return detail::attempt([&]() -> Result<Plan> {
      const detail::OptionList list(options);
      const lstmc_place at = detail::place_of(place);
      lstmc_plan *made = nullptr;
      const auto status = lstmc_network_plan(handle(), list.data(), list.size(), &at, &made);
      std::shared_ptr<const lstmc_plan> plan(made, detail::CloseCompiled());
      if (status != LSTMC_OK)
        return detail::compiler_error(status);
      detail::log_warnings(options.log);
      return Plan(std::move(plan));
    });
  }

  /// The bytes of a picture: `format` is "dot", "svg", "png", "pdf" or "html" (all views).
  /// Status::usage for a view that does not go with it, Status::no_device without Graphviz.
  Result<std::string> try_picture(const std::string &format, const PlotOptions &options = {},
                                  Place place = Place::current()) const noexcept {
    return detail::attempt([&]() -> Result<std::string> {
      static constexpr const char *views[] = {"layers", "program", "memory"};
      const detail::OptionList list(options.compile);
      const lstmc_place at = detail::place_of(place);
      lstmc_bytes *made = nullptr;
      const auto status =
          lstmc_network_plot(handle(), views[static_cast<std::size_t>(options.view)],
                             format.c_str(), list.data(), list.size(), &at, &made);
      const std::unique_ptr<lstmc_bytes, detail::CloseCompiled> bytes(made);
      if (status != LSTMC_OK)
        return detail::compiler_error(status);
      return std::string(static_cast<const char *>(lstmc_bytes_data(made)), lstmc_bytes_size(made));
    });
  }
  /// The same into a file, replaced once the picture is drawn; its suffix is the format.
  Result<void> try_plot(const std::string &path, const PlotOptions &options = {},
                        Place place = Place::current()) const noexcept {
    return detail::attempt([&]() -> Result<void> {
      const std::size_t dot = path.rfind('.');
      Result<std::string> picture =
          try_picture(dot == path.npos ? "" : path.substr(dot + 1), options, place);
      if (!picture)
        return picture.error();
      std::FILE *file = std::fopen(path.c_str(), "wb");
      bool whole =
          file && std::fwrite(picture->data(), 1, picture->size(), file) == picture->size();
      whole = file && std::fclose(file) == 0 && whole;
      return whole ? Result<void>()
                   : Result<void>(Error::make(Status::bad_file, "E0601",
                                              {"the picture could not be written"}, path));
    });
  }

  /// Writes F.lnet, or MXNet's F-symbol.json, for which `log` gets what MXNet does not have. A file
  /// of this name is replaced. Status::usage for another suffix.
  Result<void> try_save(const std::string &path, const Log &log = {}) const noexcept {
    return detail::attempt([&]() -> Result<void> {
      const auto status = lstmc_network_save(handle(), path.c_str());
      if (status != LSTMC_OK)
        return detail::compiler_error(status);
      detail::log_warnings(log);
      return {};
    });
  }

  /// For functions of lstmc_compiler.h.
  const lstmc_network *handle() const noexcept { return network_.get(); }

#if LSTMC_EXCEPTIONS
  static Network open(const std::string &path, const OpenOptions &options = {},
                      Place place = Place::current()) {
    return try_open(path, options, place).value();
  }
  static Network open(const std::string &path, const std::string &weights,
                      Place place = Place::current()) {
    return try_open(path, weights, place).value();
  }
  static Network parse(std::string_view text, const std::string &name = "net.lnet") {
    return try_parse(text, name).value();
  }
  Plan plan(const CompileOptions &options = {}, Place place = Place::current()) const {
    return try_plan(options, place).value();
  }
  std::string picture(const std::string &format, const PlotOptions &options = {},
                      Place place = Place::current()) const {
    return try_picture(format, options, place).value();
  }
  void plot(const std::string &path, const PlotOptions &options = {},
            Place place = Place::current()) const {
    try_plot(path, options, place).value();
  }
  void save(const std::string &path, const Log &log = {}) const { try_save(path, log).value(); }
  /// Those of the file that it was opened with, or is, for sessions of its packages; compiles it
  /// once for their names and shapes. None without a file.
  std::optional<Weights> weights(Place place = Place::current()) const;
#endif

private:
  friend Result<Network> detail::network_of(lstmc_status status, lstmc_network *made);
  explicit Network(std::shared_ptr<const lstmc_network> network) noexcept
      : network_(std::move(network)) {}

  std::shared_ptr<const lstmc_network> network_;
  std::string weights_;
};

inline Result<Network> detail::network_of(lstmc_status status, lstmc_network *made) {
  std::shared_ptr<const lstmc_network> network(
      made, [](const lstmc_network *n) { lstmc_network_close(const_cast<lstmc_network *>(n)); });
  if (status != LSTMC_OK)
    return compiler_error(status);
  return Network(std::move(network));
}

/// The bytes of the package that `lstmc compile` makes with these options, for a file that
/// Package::open() and the command read. Status::usage for an option, Status::invalid_model,
/// Status::does_not_fit with the largest tensors as reasons.
inline Result<std::vector<std::byte>>
try_compile_bytes(const Network &network, const CompileOptions &options = {},
                  std::source_location place = std::source_location::current()) noexcept {
  return detail::attempt([&]() -> Result<std::vector<std::byte>> {
    const detail::OptionList list(options);
    const lstmc_place at = detail::place_of(place);
    lstmc_bytes *made = nullptr;
    const auto status =
        lstmc_network_compile(network.handle(), list.data(), list.size(), &at, &made);
    const std::unique_ptr<lstmc_bytes, detail::CloseCompiled> bytes(made);
    if (status != LSTMC_OK)
      return detail::compiler_error(status);
    detail::log_warnings(options.log);
    const auto *data = static_cast<const std::byte *>(lstmc_bytes_data(made));
    return std::vector<std::byte>(data, data + lstmc_bytes_size(made));
  });
}

namespace detail {

/// Compiles the network again, with other extents.
class Compiler final : public Planner {
public:
  Compiler(Network network, CompileOptions options, std::source_location place)
      : network_(std::move(network)), options_(std::move(options)), place_(place) {}

  Result<std::vector<std::byte>> plan(const Dims &dims) const override {
    CompileOptions options = options_;
    for (const auto &[name, extent] : dims) {
      std::erase_if(options.dims, [&](const auto &dim) { return dim.first == name; });
      options.dims.emplace_back(name, extent);
    }
    return try_compile_bytes(network_, options, place_);
  }

private:
  Network network_;
  CompileOptions options_;
  std::source_location place_;
};

} // namespace detail

/// The same, opened. Sessions may ask for other extents of the network's dims (of a network that is
/// no file and no text: build it again); then it is compiled again, with the same options, at that
/// session, and the plan is kept.
inline Result<Package>
try_compile(const Network &network, const CompileOptions &options = {},
            std::source_location place = std::source_location::current()) noexcept {
  return detail::attempt([&]() -> Result<Package> {
    const Result<std::vector<std::byte>> bytes = try_compile_bytes(network, options, place);
    if (!bytes)
      return bytes.error();
    return Package::try_read(*bytes,
                             std::make_shared<const detail::Compiler>(network, options, place));
  });
}

#if LSTMC_EXCEPTIONS
inline Package compile(const Network &network, const CompileOptions &options = {},
                       std::source_location place = std::source_location::current()) {
  return try_compile(network, options, place).value();
}
inline std::vector<std::byte>
compile_bytes(const Network &network, const CompileOptions &options = {},
              std::source_location place = std::source_location::current()) {
  return try_compile_bytes(network, options, place).value();
}
inline std::optional<Weights> Network::weights(Place place) const {
  lstmc_tensor_info own = {};
  own.size = sizeof own;
  if (weights_.empty() && lstmc_network_weight(handle(), 0, &own) != LSTMC_OK)
    return std::nullopt;
  CompileOptions options;
  options.entries = {"forward"};
  const Package package = compile(*this, options, place);
  if (!weights_.empty())
    return package.weights(weights_);
  SessionOptions alone;
  alone.threads = 1;
  Session session = package.session(alone);
  for (std::size_t i = 0; lstmc_network_weight(handle(), i, &own) == LSTMC_OK; ++i)
    detail::checked(lstmc_session_set_parameter(session.handle(), own.name, own.tensor.data,
                                                lstmc_tensor_bytes(&own.tensor)))
        .value();
  return session.weights();
}
#endif

} // namespace LSTMC_ABI
} // namespace lstmc

#endif
