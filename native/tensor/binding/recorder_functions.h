/** Functions for JavaScript that create and use recorders. */
#pragma once
#include <napi.h>

#include <memory>

class Recorder;

/** @throws TypeError if the argument is not a recorder */
const std::shared_ptr<Recorder>& RecorderArgument(const Napi::CallbackInfo& info, size_t index);

/** `newRecorder() -> recorder`: the first call registers the device of recorded tensors with libtorch. */
Napi::Value NewRecorder(const Napi::CallbackInfo& info);
/** `useRecorder(recorder | null)`: selects the recorder of operations without tensors. */
Napi::Value UseRecorder(const Napi::CallbackInfo& info);
/** `takeCommands(recorder) -> Uint8Array`: returns the recorded commands and removes them from the recorder. */
Napi::Value TakeCommands(const Napi::CallbackInfo& info);
/** `isFull(recorder) -> boolean`: returns whether so much has been recorded that it must be sent. */
Napi::Value IsFull(const Napi::CallbackInfo& info);
/**
 * `sendTensor(recorder, tensor) -> tensor`: returns a tensor of the mesh with the elements of a tensor of this process.
 */
Napi::Value SendTensor(const Napi::CallbackInfo& info);
/**
 * `seedRanks(recorder, seed, perRank)`: seeds the random numbers of the workers. If `perRank` is true, each rank has a
 * different sequence.
 */
Napi::Value SeedRanks(const Napi::CallbackInfo& info);
/**
 * `declareTensor(recorder, shape, dtype) -> tensor`: returns a tensor of the mesh whose elements the workers receive in
 * another way.
 */
Napi::Value DeclareTensor(const Napi::CallbackInfo& info);
/** `recorderNumber(recorder) -> number`: returns the recorder's number in this process. */
Napi::Value RecorderNumber(const Napi::CallbackInfo& info);
/** `closeRecorder(recorder)`: further operations on the recorder's tensors throw. */
Napi::Value CloseRecorder(const Napi::CallbackInfo& info);
/**
 * `recordedReferenceOf(tensor) -> [recorder, reference] | null`: returns the numbers of the tensor's recorder and of
 * the tensor, or null for a tensor of this process.
 */
Napi::Value RecordedReferenceOf(const Napi::CallbackInfo& info);
