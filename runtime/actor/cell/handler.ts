/**
 * Finds the handlers of an actor class: for each endpoint of an interface, the method that handles its messages in one of
 * the two layouts. They are found once for each class and interface, and shared by all actors of the class.
 */
import type { BoundEndpoint } from "../../link/frame/binding.js";
import { FrameFlag, FrameKind } from "../../link/frame/frame.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import type { ArgumentsLayout } from "../../wire/endpoint-interceptor.js";
import { protobufArguments, protobufValue } from "../../wire/protobuf-messages.js";
import type { ActorClass } from "../reference/actor-request.js";
import { interceptedArguments, interceptedMethod } from "./intercepted-method.js";
import type { Handler } from "./message-handler.js";
import { type Method, methodOf } from "./method.js";

const knownHandlers = new WeakMap<ActorClass, Map<string, readonly Handler[]>>();

/** Returns the interface `key` of an actor: its own or one that it extends, directly or through others. */
export function interfaceOf(descriptor: ActorDescriptor, key: string): ActorDescriptor | undefined {
  if (descriptor.key === key) return descriptor;
  for (const base of descriptor.extends) {
    const found = interfaceOf(base(), key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the handlers of an interface for messages in the lockstep layout, in the order of the endpoints. */
export function handlersOf(actorClass: ActorClass, descriptor: ActorDescriptor): readonly Handler[] {
  let known = knownHandlers.get(actorClass);
  if (known === undefined) {
    known = new Map();
    knownHandlers.set(actorClass, known);
  }
  let handlers = known.get(descriptor.key);
  if (handlers === undefined) {
    handlers = descriptor.endpoints.map((endpoint) => lockstepHandler(actorClass, endpoint));
    known.set(descriptor.key, handlers);
  }
  return handlers;
}

/**
 * Returns the handler of the endpoint that has the same id in the sender's schema. Messages of another schema are in the
 * protobuf layout.
 */
export function handlerById(
  actorClass: ActorClass,
  descriptor: ActorDescriptor,
  { id }: BoundEndpoint,
): Handler | undefined {
  const index = descriptor.endpoints.findIndex((endpoint) => endpoint.id === id);
  return index < 0 ? undefined : protobufVariant(handlersOf(actorClass, descriptor)[index]!);
}

const protobufHandlers = new WeakMap<Handler, Handler>();

/** Returns the handler of the same endpoint for messages in the protobuf layout. */
export function protobufVariant(handler: Handler): Handler {
  let other = protobufHandlers.get(handler);
  if (other === undefined) {
    const { args, result } = handler.endpoint;
    other = {
      ...handler,
      layout: FrameFlag.protobuf,
      args: argumentsLayout(handler.endpoint, protobufArguments(args) as ArgumentsLayout),
      result: result === undefined ? undefined : protobufValue(result),
      reply: FrameKind.reply | (FrameFlag.protobuf << 8),
      item: FrameKind.item | (FrameFlag.protobuf << 8),
    };
    protobufHandlers.set(handler, other);
  }
  return other;
}

function lockstepHandler(actorClass: ActorClass, endpoint: EndpointDescriptor): Handler {
  const { prototype } = actorClass as unknown as { readonly prototype: Record<string, unknown> };
  return {
    endpoint,
    method: handlerMethod(prototype, endpoint),
    creditWithAnswer: endpoint.creditWithAnswer ?? (!endpoint.concurrent && !endpoint.respond && !endpoint.stream),
    layout: 0,
    args: argumentsLayout(endpoint, endpoint.args),
    result: endpoint.result,
    reply: FrameKind.reply,
    item: FrameKind.item,
  };
}

function argumentsLayout({ interceptor }: EndpointDescriptor, layout: ArgumentsLayout): ArgumentsLayout {
  return interceptor === undefined ? layout : interceptedArguments(interceptor, layout);
}

function handlerMethod(prototype: Record<string, unknown>, endpoint: EndpointDescriptor): Method {
  const { interceptor, retains, name } = endpoint;
  const method = methodOf(prototype, retains?.name ?? name);
  return interceptor === undefined ? method : interceptedMethod(interceptor, endpoint, method);
}
