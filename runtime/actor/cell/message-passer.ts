/**
 * Messages of an actor that has been replaced: handlers that pass them on to the actor in the new process, and answer with its
 * answers. What passes them on is given by the process.
 */
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import { runningTurn } from "../context.js";
import type { Handler } from "./message-handler.js";
import type { Turn } from "./turn.js";

/** Passes messages on to the actor in the new process. */
export interface MessagePasser {
  /**
   * Passes a message on.
   *
   * @returns the answer: a promise, or an iterable for a streaming endpoint
   */
  pass(turn: Turn, endpoint: EndpointDescriptor, args: readonly unknown[]): unknown;
  /**
   * Resolves when the messages that were passed on have been handled, as far as they would delay later ones. Never rejects.
   */
  whenHandled(): Promise<void>;
}

/**
 * Returns a handler that passes its message on. Messages that the actor handles one at a time are passed on one at a time, so
 * that a process which is replaced in its turn has few of them. The others may wait for later messages.
 */
export function passingHandler(handler: Handler, passer: MessagePasser): Handler {
  const { interceptor: _, ...endpoint } = handler.endpoint;
  const { concurrent, respond, stream } = endpoint;
  return {
    ...handler,
    method: (...args) => passer.pass(runningTurn() as Turn, handler.endpoint, args),
    creditWithAnswer: !stream,
    endpoint: { ...endpoint, concurrent: concurrent !== false || respond === true, respond: false },
  };
}
