/** The registered class of exchange actors. */
import { TensorExchangeActor } from "./rendezvous/tensor-exchange-actor.js";

/**
 * The exchange actor under its registered name. Processes find the class by the path of this file and its name, so that
 * neither can change while programs of several versions communicate. `rendezvous/` has the implementation.
 *
 * @internal
 */
export class ExchangeDesk extends TensorExchangeActor {}
