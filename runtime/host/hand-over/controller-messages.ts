/** The messages between a daemon and a controller that it has started, over the channel of Node.js. */

/** The argument of the boot file that makes the process a controller. A private folder for its files follows. */
export const controllerArgument = "controller";

/** An order of the daemon. Exactly one property is set. */
export interface ControllerOrder {
  /** Loads the program, and checks that all hosts are reached. Nothing is taken over. The text of `encodeHandOver`. */
  readonly prepare?: string;
  /** Takes over the processes and meshes. The text of `encodeHandOver`. */
  readonly takeOver?: string;
  /** Spawns an actor in this process, and publishes it. The text of `encodeServeOrder`. */
  readonly serve?: string;
}

/** The answer to an order. */
export interface ControllerAnswer {
  /** Why the order could not be carried out. */
  readonly failed?: string;
}
