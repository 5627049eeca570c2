/**
 * The receiving side of endpoints with an interceptor: decoding their arguments, waiting until the arguments are
 * complete, and retaining results in this process.
 */
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import type { ArgumentsLayout, EndpointInterceptor } from "../../wire/endpoint-interceptor.js";
import { runningTurn } from "../context.js";
import type { Method } from "./method.js";
import type { Turn } from "./turn.js";

/** Returns a layout that decodes arguments through the interceptor. */
export function interceptedArguments(interceptor: EndpointInterceptor, layout: ArgumentsLayout): ArgumentsLayout {
  return {
    encodeInto: (w, args) => layout.encodeInto(w, args),
    decodeFrom: (r) => interceptor.decodeArguments(layout, r),
  };
}

/** Returns a method that calls `method` when the arguments of its message are complete. */
export function interceptedMethod(
  interceptor: EndpointInterceptor,
  { retains, stream }: EndpointDescriptor,
  method: Method,
): Method {
  if (retains !== undefined) return retainingMethod(interceptor, retains, method);
  return stream ? streamingMethod(interceptor, method) : callingMethod(interceptor, method);
}

function callingMethod(interceptor: EndpointInterceptor, method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const turn = runningTurn() as Turn;
    const complete = interceptor.beforeHandler(turn.args, turn);
    return complete === undefined ? method.apply(this, args) : complete.then(() => method.apply(this, args));
  };
}

function streamingMethod(interceptor: EndpointInterceptor, method: Method): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const turn = runningTurn() as Turn;
    const complete = interceptor.beforeHandler(turn.args, turn);
    if (complete === undefined) return method.apply(this, args);
    const items = async function* (this: unknown): AsyncGenerator<unknown> {
      await complete;
      yield* method.apply(this, args) as AsyncIterable<unknown>;
    };
    return items.call(this);
  };
}

/** Returns a method that retains the result of `method` in this process, and returns its description. */
function retainingMethod(interceptor: EndpointInterceptor, retains: EndpointDescriptor, method: Method): Method {
  return async function (this: unknown, key: unknown, args: unknown): Promise<unknown> {
    const turn = runningTurn() as Turn;
    await interceptor.beforeHandler(turn.args, turn);
    const end = interceptor.beforeRetaining(key, turn);
    try {
      return interceptor.retainResult(retains.name, key, await method.apply(this, args as unknown[]));
    } finally {
      end();
    }
  };
}
