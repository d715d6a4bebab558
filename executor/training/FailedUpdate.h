// An update that met a value that is not finite, kept to be run again: `nan-UPDATE`.
//
// The folder is a checkpoint of what there was before the update, carried states included, with the
// rest of what the update read in one more file. It is never resumed from.
#pragma once

#include <string_view>

#include "executor/training/Checkpoint.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

/// Inputs and labels by name, and the scalars learning_rate (f64), update and seed (i64).
inline constexpr std::string_view kUpdateFile = "update.npz";

/// Contents of kUpdateFile for the update that `model` has just been given.
Result<Bytes> packUpdate(Trainable &model, const Trainable::StepScalars &scalars);

bool isFailedUpdate(const Checkpoint &checkpoint);

/// Puts the model where it was before the update, fills its inputs, and gives what step() takes.
/// E0610 when an input is missing, too many, or of another shape or type; refusals of restore() and
/// of the file.
Result<Trainable::StepScalars> restoreUpdate(const Checkpoint &checkpoint, Trainable &model,
                                             const Limits &limits = {});

} // namespace lstmc::training
