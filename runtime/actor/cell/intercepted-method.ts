/** Methods of endpoints with tensors of a mesh: those come after the message, by other ways, and answers can stay here. */
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import type { TensorSupport } from "../../wire/tensor-support.js";
import { runningTurn } from "../context.js";
import type { Method } from "./method.js";
import type { Turn } from "./turn.js";

/** The method that begins when all tensors of its message are there. */
export function interceptedMethod(
  tensors: TensorSupport,
  { keeps, stream }: EndpointDescriptor,
  method: Method,
): Method {
  if (keeps !== undefined) return callAndRetain(tensors, keeps, method);
  return stream ? streamWhenArrived(tensors, method) : callWhenArrived(tensors, method);
}

function callWhenArrived(tensors: TensorSupport, method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const turn = runningTurn() as Turn;
    const arriving = tensors.arriving(turn.args, turn);
    return arriving === undefined ? method.apply(this, args) : arriving.then(() => method.apply(this, args));
  };
}

function streamWhenArrived(tensors: TensorSupport, method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const turn = runningTurn() as Turn;
    const arriving = tensors.arriving(turn.args, turn);
    if (arriving === undefined) return method.apply(this, args);
    const items = async function* (this: unknown): AsyncGenerator<unknown> {
      await arriving;
      yield* method.apply(this, args) as AsyncIterable<unknown>;
    };
    return items.call(this);
  };
}

/** The same method, whose answer stays here. */
function callAndRetain(tensors: TensorSupport, keeps: EndpointDescriptor, method: Method): Method {
  return async function (this: unknown, key: unknown, args: unknown): Promise<unknown> {
    const turn = runningTurn() as Turn;
    await tensors.arriving(turn.args, turn);
    const end = tensors.answering(key, turn);
    try {
      return tensors.keep(keeps.name, key, await method.apply(this, args as unknown[]));
    } finally {
      end();
    }
  };
}
