/**
 * The class of the actors that stand for the actors of another program: it has the endpoints of the interface, and each
 * handler forwards its message. All messages start in the order of their arrival and are handled concurrently, and the
 * answer returns their credit, so that a sender is held up when the actor in the other program is slow.
 */
import { Actor } from "../../actor/actor.js";
import type { Turn } from "../../actor/cell/turn.js";
import { currentTurn } from "../../actor/context.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import type { ActorDescriptor, EndpointDescriptor } from "../../wire/descriptor.js";
import { refusedEndpoints, refusingInterceptor } from "./refused-endpoints.js";

/** Forwards a message and returns the answer: a promise, or an iterable for a streaming endpoint. */
export type Forward = (turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]) => unknown;

/** Makes the class for one mesh of another program. */
export function createProxyClass(descriptor: ActorDescriptor, forward: Forward): ActorClass {
  class ForwardingActor extends Actor {
    static override readonly descriptor = forwardingDescriptor(descriptor);
  }
  for (const endpoint of descriptor.endpoints) {
    if (endpoint.retains !== undefined) continue;
    const handle = (...args: unknown[]) => forward(currentTurn() as Turn, endpoint, args);
    Object.defineProperty(ForwardingActor.prototype, endpoint.name, { value: handle });
  }
  return ForwardingActor as unknown as ActorClass;
}

/** Returns the descriptor of the actors that forward: the same interface, with other rules for handling messages. */
function forwardingDescriptor(descriptor: ActorDescriptor): ActorDescriptor {
  const refused = refusedEndpoints(descriptor);
  return {
    ...descriptor,
    endpoints: descriptor.endpoints.map(({ interceptor: _, ...endpoint }, index) => {
      const why = refused.get(descriptor.endpoints[index]!);
      return {
        ...endpoint,
        concurrent: true,
        respond: false,
        creditWithAnswer: !endpoint.stream,
        ...(why === undefined ? {} : { interceptor: refusingInterceptor(why) }),
      };
    }),
    extends: descriptor.extends.map((base) => () => forwardingDescriptor(base())),
  };
}
