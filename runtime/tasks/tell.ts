/** Messages without an answer, to actors that may have ended. */
import { BackpressureError, SupervisionError } from "../index.js";
import { currentTurn, mainClock, runInTurn } from "./kernel.js";

/** The time in ms after which a message is sent again whose receiver was too busy. */
const AGAIN_MS = 5;

/**
 * Sends a message. A receiver that has ended needs none. If too much waits for the receiver, the message is sent later.
 * @param send calls `broadcast` of an endpoint
 */
export function tell(send: () => unknown): void {
  try {
    send();
  } catch (error) {
    if (error instanceof SupervisionError) return;
    if (!(error instanceof BackpressureError)) throw error;
    const turn = currentTurn();
    const again = () => tell(send);
    mainClock().after(AGAIN_MS, turn === undefined ? again : () => runInTurn(turn, again), true);
  }
}
