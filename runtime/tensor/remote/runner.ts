/** Runs functions of the project in a process of a mesh. */
import type { KeptAnswer, RemoteName, RemoteValues, TensorKey } from "../../../generated/tensor.js";
import { TensorRunnerActor } from "../../../generated/tensor.js";
import { keepAnswer } from "../kept.js";
import { functionOf } from "./functions.js";
import { readValues, writeValues } from "./values.js";

/** @internal */
export class FunctionRunner extends TensorRunnerActor {
  async run(called: RemoteName, args: RemoteValues): Promise<RemoteValues> {
    return writeValues(called.name, await answerOf(called, args));
  }

  async keep(called: RemoteName, key: TensorKey, args: RemoteValues): Promise<KeptAnswer> {
    return keepAnswer(called.name, key, await answerOf(called, args));
  }
}

async function answerOf(called: RemoteName, args: RemoteValues): Promise<unknown> {
  const [values, coming] = readValues(args);
  const run = await functionOf(called);
  await coming;
  if (!Array.isArray(values)) throw new TypeError(`cannot run ${called.name}: its arguments are no list`);
  return run(...(values as never[]));
}
