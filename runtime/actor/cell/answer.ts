/** Answers: what a handler returned or threw, on its way back to the caller. Nothing here throws. */
import { DeliveryError } from "../../link/errors.js";
import type { Lane } from "../../link/inbound/lane.js";
import { errorChainOf } from "../../thrown.js";
import { writeDeliveryError, writeThrown } from "../delivery/error-codec.js";
import { announceHolders, portsWritten } from "../port/announce-holders.js";
import { callerAsHolder, type Turn } from "./turn.js";

/** For calls that were given up before their turn came. */
export const abandonedBeforeStart = new DeliveryError("closed", "its caller no longer waited when its turn came");

/** Answers a turn's call with a value; one that is not of the endpoint's type is an error of the handler. */
export function answerWithValue(turn: Turn, value: unknown): void {
  const { reply, result, creditWithAnswer } = turn.handler;
  try {
    turn.lane.link.sendReply(reply, turn.call, !creditWithAnswer, result, value);
    if (portsWritten.length > 0) announceHolders(turn.cell.proc, [callerAsHolder(turn)]);
  } catch (error) {
    answerWithError(turn, error);
  }
}

/** Answers a turn's call with what its handler threw. */
export function answerWithError(turn: Turn, thrown: unknown): void {
  const { lane, call, cell, handler } = turn;
  const chain = errorChainOf(thrown);
  lane.link.sendError(call, !handler.creditWithAnswer, (w) => writeThrown(w, cell.name, chain));
}

/** Answers a call that is not going to be handled; its message's credit goes back with the answer. */
export function answerUndelivered(lane: Lane, call: number, actor: string, error: DeliveryError): void {
  lane.link.sendError(call, false, (w) => writeDeliveryError(w, actor, error));
}

/** Answers a call whose arguments are not what the endpoint takes. */
export function answerUndecodable(lane: Lane, call: number, actor: string, error: unknown): void {
  lane.link.sendError(call, false, (w) => writeThrown(w, actor, errorChainOf(error)));
}

/** Answers the call of a turn whose handler has not come to an end, and will not. */
export function answerInterrupted(turn: Turn, error: DeliveryError): void {
  const { lane, call, cell, handler } = turn;
  lane.link.sendError(call, !handler.creditWithAnswer, (w) => writeDeliveryError(w, cell.name, error));
}

/** Sends a message without answer back. */
export function bounce(lane: Lane, slot: number, size: number, error: DeliveryError): void {
  if (lane.isOpen) lane.link.sendBounce(lane.id, slot, error);
  lane.consumed(size);
}
