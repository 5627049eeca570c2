/** Messages without an answer, to actors that may have ended. */
import { BackpressureError, SupervisionError } from "../index.js";
import { currentTurn, mainClock, runInTurn } from "./kernel.js";

/** The time in ms after which a message is sent again whose receiver was too busy. */
const AGAIN_MS = 5;

/** The messages that could not be sent yet, by receiver, in their order. */
const waiting = new WeakMap<object, (() => unknown)[]>();

/**
 * Sends a message. A receiver that has ended needs none. If too much waits for the receiver, the message is sent later, before all
 * others that are sent to the receiver by this function.
 *
 * @param receiver the mesh of the receiver
 * @param send calls `broadcast` of an endpoint
 */
export function tell(receiver: object, send: () => unknown): void {
  const before = waiting.get(receiver);
  if (before !== undefined) {
    before.push(inThisTurn(send));
  } else if (!isSent(send)) {
    const messages = [inThisTurn(send)];
    waiting.set(receiver, messages);
    sendLater(receiver, messages);
  }
}

function sendLater(receiver: object, messages: (() => unknown)[]): void {
  mainClock().after(
    AGAIN_MS,
    () => {
      while (messages.length > 0) {
        if (!isSent(messages[0]!)) {
          sendLater(receiver, messages);
          return;
        }
        messages.shift();
      }
      waiting.delete(receiver);
    },
    true,
  );
}

/** Returns `send` as code of the actor that sends now. */
function inThisTurn(send: () => unknown): () => unknown {
  const turn = currentTurn();
  return turn === undefined ? send : () => runInTurn(turn, send);
}

/** Sends a message, and returns false if that is not possible now. */
function isSent(send: () => unknown): boolean {
  try {
    send();
  } catch (error) {
    if (error instanceof BackpressureError) return false;
    if (!(error instanceof SupervisionError)) throw error;
  }
  return true;
}
