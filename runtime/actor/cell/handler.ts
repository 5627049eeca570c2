/**
 * The handlers of an actor class: for each endpoint of an interface the method that takes its messages, in one of the two
 * layouts. Found once per class and interface, shared by all actors of the class.
 */
import type { BoundEndpoint } from "../../link/frame/binding.js";
import { FrameFlag, FrameKind } from "../../link/frame/frame.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import type { ArgumentsLayout } from "../../wire/endpoint-interceptor.js";
import type { MessageLayout } from "../../wire/message-layout.js";
import { protobufArguments, protobufValue } from "../../wire/protobuf-messages.js";
import type { ActorClass } from "../reference/proc-hooks.js";
import { interceptedArguments, interceptedMethod } from "./intercepted-method.js";
import { type Method, methodOf } from "./method.js";

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

const knownHandlers = new WeakMap<ActorClass, Map<string, readonly Handler[]>>();

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

/** The handler for the endpoint that another schema knows by the same id; its messages are in the protobuf layout. */
export function handlerById(
  actorClass: ActorClass,
  descriptor: ActorDescriptor,
  { id }: BoundEndpoint,
): Handler | undefined {
  const index = descriptor.endpoints.findIndex((endpoint) => endpoint.id === id);
  return index < 0 ? undefined : protobufVariant(handlersOf(actorClass, descriptor)[index]!);
}

const protobufHandlers = new WeakMap<Handler, Handler>();

/** The same for messages in the protobuf layout. */
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
    creditWithAnswer: !endpoint.concurrent && !endpoint.respond && !endpoint.stream,
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
