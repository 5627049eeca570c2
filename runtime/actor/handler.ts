/**
 * The handlers of an actor class: for each endpoint of an interface the method that takes its messages. Found once per
 * class and interface, shared by all actors of the class.
 */
import type { ActorDescriptor, EndpointDescriptor } from "../wire/descriptor.js";
import type { ActorClass } from "./hooks.js";

export type Method = (this: unknown, ...args: unknown[]) => unknown;

export interface Handler {
  readonly endpoint: EndpointDescriptor;
  readonly method: Method;
  /** Whether the answer brings the message's credit back: it leaves the mailbox when it is answered. */
  readonly creditWithAnswer: boolean;
}

/** What an interface asked for is not. */
export type Mismatch = "unknown" | "fingerprint";

const known = new WeakMap<ActorClass, Map<string, readonly Handler[] | Mismatch>>();

/** The handlers for the interface `key`, in the order of its endpoints; or why there are none. */
export function handlersOf(actorClass: ActorClass, key: string, fingerprint: bigint): readonly Handler[] | Mismatch {
  let interfaces = known.get(actorClass);
  if (interfaces === undefined) {
    interfaces = new Map();
    known.set(actorClass, interfaces);
  }
  const name = `${key}@${fingerprint}`;
  let handlers = interfaces.get(name);
  if (handlers === undefined) {
    handlers = find(actorClass, key, fingerprint);
    interfaces.set(name, handlers);
  }
  return handlers;
}

function find(actorClass: ActorClass, key: string, fingerprint: bigint): readonly Handler[] | Mismatch {
  const descriptor = inherited(actorClass.descriptor, key);
  if (descriptor === undefined) return "unknown";
  if (descriptor.fingerprint !== fingerprint) return "fingerprint";
  const { prototype } = actorClass as unknown as { readonly prototype: Record<string, unknown> };
  return descriptor.endpoints.map((endpoint) => ({
    endpoint,
    method: methodOf(prototype, endpoint.name),
    creditWithAnswer: !endpoint.concurrent && !endpoint.respond && !endpoint.stream,
  }));
}

/** The interface `key` among those that an actor has, its own included. */
function inherited(descriptor: ActorDescriptor, key: string): ActorDescriptor | undefined {
  if (descriptor.key === key) return descriptor;
  for (const base of descriptor.extends) {
    const found = inherited(base(), key);
    if (found !== undefined) return found;
  }
  return undefined;
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
