/** Methods of endpoints with tensors of a mesh: those come after the message, by other ways, and answers can stay here. */
import type { EndpointDescriptor } from "../wire/descriptor.js";
import type { TensorSupport } from "../wire/tensor-support.js";
import { running } from "./context.js";
import type { Method } from "./method.js";
import type { Turn } from "./turn.js";

/** The method that begins when all tensors of its message are there. */
export function withTensors(tensors: TensorSupport, { keeps, stream }: EndpointDescriptor, method: Method): Method {
  if (keeps !== undefined) return keeping(tensors, keeps, method);
  return stream ? streamOnceThere(tensors, method) : onceThere(tensors, method);
}

function onceThere(tensors: TensorSupport, method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const arriving = tensors.arriving((running() as Turn).args);
    return arriving === undefined ? method.apply(this, args) : arriving.then(() => method.apply(this, args));
  };
}

function streamOnceThere(tensors: TensorSupport, method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const arriving = tensors.arriving((running() as Turn).args);
    if (arriving === undefined) return method.apply(this, args);
    const items = async function* (this: unknown): AsyncGenerator<unknown> {
      await arriving;
      yield* method.apply(this, args) as AsyncIterable<unknown>;
    };
    return items.call(this);
  };
}

/** The same method, whose answer stays here. */
function keeping(tensors: TensorSupport, keeps: EndpointDescriptor, method: Method): Method {
  return async function (this: unknown, key: unknown, args: unknown): Promise<unknown> {
    await tensors.arriving((running() as Turn).args);
    return tensors.keep(keeps.name, key, await method.apply(this, args as unknown[]));
  };
}
