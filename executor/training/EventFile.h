// Event files of TensorBoard: scalars by tag and update.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "executor/base/Status.h"
#include "executor/training/TrainEvents.h"

namespace lstmc::training {

/// A file `events.out.tfevents.SECONDS.HOST.PID.lstmc` in a folder, which is made if it is not
/// there. Records reach the file as they are written, for TensorBoard reads while training goes on.
/// A record that cannot be written is told of: training is worth more than its log, and goes on.
///
/// Source: a file is records of TFRecord (length as u64, its masked CRC-32C, the bytes, their
/// masked CRC-32C, all little-endian; tensorflow.org/tutorials/load_data/tfrecord), each a protocol
/// buffer Event (tensorboard/compat/proto/event.proto: wall_time 1, step 2, file_version 3, summary
/// 5, of whose values tag is 1 and simple_value 2).
class EventFile {
public:
  /// E0601 if folder or file cannot be made.
  static Result<EventFile> create(const std::string &folder);
  /// Its head, which create() has written. As the others, E0601 if it could not be.
  const Status &head() const { return head_; }
  Status scalar(std::string_view tag, int64_t step, double value);

private:
  Status write(const std::string &event);
  std::string path_;
  std::shared_ptr<std::FILE> file_;
  Status head_;
};

/// Writes what a training tells: train/.., valid/.. and gradient_norm/PARAMETER.
class EventLog : public TrainObserver {
public:
  /// `lost` is told of records that could not be written.
  EventLog(EventFile file, std::function<void(const Error &)> lost)
      : file_(std::move(file)), lost_(std::move(lost)) {}
  void start(const StartEvent &event) override;
  void update(const UpdateEvent &event) override;
  void valid(const ValidEvent &event) override;

private:
  void write(const std::string &tag, int64_t step, const std::optional<double> &value);
  void told(const Status &status) const;

  EventFile file_;
  std::function<void(const Error &)> lost_;
};

} // namespace lstmc::training
