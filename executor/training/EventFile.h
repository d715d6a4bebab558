// Event files of TensorBoard: scalars by tag and update.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "executor/base/Status.h"
#include "executor/training/TrainEvents.h"

namespace lstmc::training {

/// A file `events.out.tfevents.SECONDS.HOST.PID.lstmc` in a folder, which is made if it is not
/// there. Records reach the file as they are written, for TensorBoard reads while training goes on.
/// What cannot be written later is left out: training is worth more than its log.
///
/// Source: a file is records of TFRecord (length as u64, its masked CRC-32C, the bytes, their
/// masked CRC-32C, all little-endian; tensorflow.org/tutorials/load_data/tfrecord), each a protocol
/// buffer Event (tensorboard/compat/proto/event.proto: wall_time 1, step 2, file_version 3, summary
/// 5, of whose values tag is 1 and simple_value 2).
class EventFile {
public:
  /// E0601 if folder or file cannot be made.
  static Result<EventFile> create(const std::string &folder);
  void scalar(std::string_view tag, int64_t step, double value);

private:
  void write(const std::string &event);
  std::shared_ptr<std::FILE> file_;
};

/// Writes what a training tells: train/.., valid/.. and gradient_norm/PARAMETER.
class EventLog : public TrainObserver {
public:
  explicit EventLog(EventFile file) : file_(std::move(file)) {}
  void update(const UpdateEvent &event) override;
  void valid(const ValidEvent &event) override;

private:
  EventFile file_;
};

} // namespace lstmc::training
