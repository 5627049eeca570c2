/** Functions for JavaScript that capture and replay calls of steps. */
#pragma once
#include <napi.h>

/**
 * `newStepProgram(recorder, arguments) -> program`: `arguments` are tensors of the recorder, as in all other functions.
 */
Napi::Value NewStepProgram(const Napi::CallbackInfo& info);
/** `matchesStep(program, arguments) -> boolean`: returns whether arguments have the shapes of those of the program. */
Napi::Value MatchesStep(const Napi::CallbackInfo& info);
/** `beginCapture(program, arguments)`: captures what is recorded from now on. */
Napi::Value BeginCapture(const Napi::CallbackInfo& info);
/**
 * `endCapture(program, results, numbers, refusal) -> { compared, why }`: ends the capture. `numbers` is the number of
 * marked numbers, and `refusal` a reason not to replay the call, or empty. `compared` is whether the call can be
 * replayed if the next one is equal, and `why` the reason why the next call is not replayed, or empty.
 */
Napi::Value EndCapture(const Napi::CallbackInfo& info);
/** `cancelCapture(program)`: ends the capture of a call that has thrown. */
Napi::Value CancelCapture(const Napi::CallbackInfo& info);
/**
 * `detachResult(tensor, site) -> tensor`: returns a tensor with the same elements and without gradient. `site` is the
 * number of the call site that is recorded.
 */
Napi::Value DetachResult(const Napi::CallbackInfo& info);
/** `markNumbers(marks)`: sets whether the numbers of the next operation change from replay to replay. */
Napi::Value MarkNumbers(const Napi::CallbackInfo& info);
/** `whyNotReplayed(program, arguments) -> string`: empty if a call can be replayed. */
Napi::Value WhyNotReplayed(const Napi::CallbackInfo& info);
/** `replayStep(program, arguments, numbers) -> tensor[]`: records a replay and returns the results. */
Napi::Value ReplayStep(const Napi::CallbackInfo& info);
/** `forgetStep(program)`: forgets the captured calls, here and on the workers. */
Napi::Value ForgetStep(const Napi::CallbackInfo& info);
