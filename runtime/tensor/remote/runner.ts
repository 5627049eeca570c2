/** The actor that runs remote functions in a proc of a mesh. */
import type { KeptAnswer, RemoteName, RemoteValues, TensorKey } from "../../../generated/tensor.js";
import { TensorRunnerActor } from "../../../generated/tensor.js";
import { retainResult } from "../rendezvous/retained-result.js";
import { loadFunction } from "./function-registry.js";
import { readValues, writeValues } from "./remote-values.js";

/** @internal */
export class FunctionRunner extends TensorRunnerActor {
  async run(called: RemoteName, args: RemoteValues): Promise<RemoteValues> {
    return writeValues(called.name, await runFunction(called, args));
  }

  async keep(called: RemoteName, key: TensorKey, args: RemoteValues): Promise<KeptAnswer> {
    return retainResult(called.name, key, await runFunction(called, args));
  }
}

async function runFunction(called: RemoteName, args: RemoteValues): Promise<unknown> {
  const [values, coming] = readValues(args);
  const run = await loadFunction(called);
  await coming;
  if (!Array.isArray(values)) throw new TypeError(`cannot run ${called.name}: its arguments are no list`);
  return run(...(values as never[]));
}
