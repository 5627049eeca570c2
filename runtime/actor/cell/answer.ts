/** Sends answers to callers: the value that a handler returned, or an error. The functions never throw. */
import { DeliveryError } from "../../link/errors.js";
import type { Lane } from "../../link/inbound/lane.js";
import { errorChainOf } from "../../thrown.js";
import { writeDeliveryError, writeThrown } from "../delivery/error-codec.js";
import { ForwardFailure } from "../delivery/forward-failure.js";
import { announceHolders, portsWritten } from "../port/announce-holders.js";
import { callerAsHolder, type Turn } from "./turn.js";

/** The answer to calls whose callers stopped waiting while the calls were queued. */
export const abandonedBeforeStart = new DeliveryError("closed", "its caller no longer waited when its turn came");

/** Answers a turn's call with a value. A value of a wrong type counts as an error of the handler. */
export function answerWithValue(turn: Turn, value: unknown): void {
  const { reply, result, creditWithAnswer } = turn.handler;
  try {
    turn.lane.link.sendReply(reply, turn.call, !creditWithAnswer, result, value);
    if (portsWritten.length > 0) announceHolders(turn.cell.proc, [callerAsHolder(turn)]);
  } catch (error) {
    answerWithError(turn, error);
  }
}

/** Answers a turn's call with the error that its handler threw. */
export function answerWithError(turn: Turn, thrown: unknown): void {
  const { lane, call, cell, handler } = turn;
  const undelivered = ForwardFailure.deliveryOf(thrown);
  if (undelivered !== undefined) {
    answerInterrupted(turn, undelivered);
    return;
  }
  const chain = errorChainOf(thrown);
  lane.link.sendError(call, !handler.creditWithAnswer, (w) => writeThrown(w, cell.name, chain));
}

/** Answers a call that will not be handled. The answer returns the credit of the message. */
export function answerUndelivered(lane: Lane, call: number, actor: string, error: DeliveryError): void {
  lane.link.sendError(call, false, (w) => writeDeliveryError(w, actor, error));
}

/** Answers a call whose arguments cannot be decoded. */
export function answerUndecodable(lane: Lane, call: number, actor: string, error: unknown): void {
  lane.link.sendError(call, false, (w) => writeThrown(w, actor, errorChainOf(error)));
}

/** Answers the call of a turn whose handler has not ended, because its actor has ended. */
export function answerInterrupted(turn: Turn, error: DeliveryError): void {
  const { lane, call, cell, handler } = turn;
  lane.link.sendError(call, !handler.creditWithAnswer, (w) => writeDeliveryError(w, cell.name, error));
}

/** Returns a message that expects no answer to its sender. */
export function bounce(lane: Lane, slot: number, size: number, error: DeliveryError): void {
  if (lane.isOpen) lane.link.sendBounce(lane.id, slot, error);
  lane.consumed(size);
}
