/** An endpoint in two states of the schemas. */
import type { Pair } from "../../shared/evolution/pair.js";
import type { ActorDeclaration, Endpoint } from "../model/index.js";

/** An endpoint in both states, and the actor that has it. */
export interface EndpointPair extends Pair<Endpoint> {
  readonly actor: ActorDeclaration;
}
