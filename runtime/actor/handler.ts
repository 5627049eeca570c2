/**
 * The handlers of an actor class: for each endpoint of an interface the method that takes its messages, in one of the two
 * layouts. Found once per class and interface, shared by all actors of the class.
 */
import type { BoundEndpoint } from "../link/binding.js";
import { Flag, Kind } from "../link/frame.js";
import type { ActorDescriptor, EndpointDescriptor } from "../wire/descriptor.js";
import { type MessageLayout, protobufArguments, protobufValue } from "../wire/protobuf-messages.js";
import type { ArgumentsLayout, TensorSupport } from "../wire/tensor-support.js";
import { running } from "./context.js";
import type { ActorClass } from "./hooks.js";
import type { Turn } from "./turn.js";

export type Method = (this: unknown, ...args: unknown[]) => unknown;

export interface Handler {
  readonly endpoint: EndpointDescriptor;
  readonly method: Method;
  /** Whether the answer brings the message's credit back: it leaves the mailbox when it is answered. */
  readonly creditWithAnswer: boolean;
  /** `Flag.protobuf` or 0: of the messages that it takes. */
  readonly layout: number;
  readonly args: ArgumentsLayout;
  /** Of answers and items; undefined: void. */
  readonly result: MessageLayout<unknown> | undefined;
  /** The first words of the frames of answers and items. */
  readonly reply: number;
  readonly item: number;
}

const interfaces = new WeakMap<ActorClass, Map<string, readonly Handler[]>>();

/** The interface `key` among those that an actor has, its own included. */
export function interfaceOf(descriptor: ActorDescriptor, key: string): ActorDescriptor | undefined {
  if (descriptor.key === key) return descriptor;
  for (const base of descriptor.extends) {
    const found = interfaceOf(base(), key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The handlers for messages in the lockstep layout by an interface of the class, in the order of its endpoints. */
export function handlersOf(actorClass: ActorClass, descriptor: ActorDescriptor): readonly Handler[] {
  let known = interfaces.get(actorClass);
  if (known === undefined) {
    known = new Map();
    interfaces.set(actorClass, known);
  }
  let handlers = known.get(descriptor.key);
  if (handlers === undefined) {
    handlers = descriptor.endpoints.map((endpoint) => lockstepHandler(actorClass, endpoint));
    known.set(descriptor.key, handlers);
  }
  return handlers;
}

/** The handler for the endpoint that another schema knows by the same id; its messages are in the protobuf layout. */
export function handlerById(
  actorClass: ActorClass,
  descriptor: ActorDescriptor,
  { id }: BoundEndpoint,
): Handler | undefined {
  const index = descriptor.endpoints.findIndex((endpoint) => endpoint.id === id);
  return index < 0 ? undefined : inProtobuf(handlersOf(actorClass, descriptor)[index]!);
}

const protobufHandlers = new WeakMap<Handler, Handler>();

/** The same for messages in the protobuf layout. */
export function inProtobuf(handler: Handler): Handler {
  let other = protobufHandlers.get(handler);
  if (other === undefined) {
    const { args, result } = handler.endpoint;
    other = {
      ...handler,
      layout: Flag.protobuf,
      args: received(handler.endpoint, protobufArguments(args) as ArgumentsLayout),
      result: result === undefined ? undefined : protobufValue(result),
      reply: Kind.reply | (Flag.protobuf << 8),
      item: Kind.item | (Flag.protobuf << 8),
    };
    protobufHandlers.set(handler, other);
  }
  return other;
}

function lockstepHandler(actorClass: ActorClass, endpoint: EndpointDescriptor): Handler {
  const { prototype } = actorClass as unknown as { readonly prototype: Record<string, unknown> };
  return {
    endpoint,
    method: methodFor(prototype, endpoint),
    creditWithAnswer: !endpoint.concurrent && !endpoint.respond && !endpoint.stream,
    layout: 0,
    args: received(endpoint, endpoint.args),
    result: endpoint.result,
    reply: Kind.reply,
    item: Kind.item,
  };
}

function received({ tensors }: EndpointDescriptor, layout: ArgumentsLayout): ArgumentsLayout {
  return tensors === undefined ? layout : tensors.receiving(layout);
}

function methodFor(prototype: Record<string, unknown>, endpoint: EndpointDescriptor): Method {
  const { tensors, keeps, stream, name } = endpoint;
  const method = methodOf(prototype, keeps?.name ?? name);
  if (tensors === undefined) return method;
  if (keeps !== undefined) return keeping(tensors, keeps, method);
  return stream ? streamOnceThere(tensors, method) : onceThere(tensors, method);
}

/** What messages say may come after them, by other ways: tensors of a mesh. */
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

/** The method of the class; a method that is a property of each instance is looked up when it is called. */
function methodOf(prototype: Record<string, unknown>, name: string): Method {
  const method = prototype[name];
  if (typeof method === "function") return method as Method;
  return function ofInstance(this: unknown, ...args: unknown[]): unknown {
    const own = (this as Record<string, unknown>)[name];
    if (typeof own === "function") return own.apply(this, args);
    throw new TypeError(`cannot call ${name}: the actor class has no such method`);
  };
}
