/** The registered class of exchange actors. */
import { TensorExchangeActor } from "./rendezvous/tensor-exchange-actor.js";

/**
 * Processes find the class by the path of this file and by its name, so neither may change while programs of several versions
 * talk to each other. The class itself is in `rendezvous/`.
 *
 * @internal
 */
export class ExchangeDesk extends TensorExchangeActor {}
