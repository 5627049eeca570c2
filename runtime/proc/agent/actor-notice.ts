/** Makes the notice about the failure of an actor that a proc sends to the proc that ordered the actor. */

import type { ActorNotice } from "../../../generated/supervision.js";
import type { ActorFailure } from "../../actor/reference/actor-failure.js";
import type { MeshId } from "../../link/address.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";

/** Identifies one incarnation of one actor. */
export interface ActorIncarnation {
  readonly mesh: MeshId;
  readonly rank: number;
  readonly incarnation: number;
}

/** Returns the notice about the failure of one incarnation of an actor. */
export function actorNoticeOf(
  { mesh, rank, incarnation }: ActorIncarnation,
  { kind, error, at }: ActorFailure,
): ActorNotice {
  return { mesh, rank, incarnation, kind, cause: failureCauseOf(error), at: new Date(at) };
}
