/** The controllers of a host, as its daemon sees them. `controller-processes.ts` starts them as processes. */

export interface Controllers {
  /**
   * Starts a controller. Resolves with its id when it is ready to take over. Rejects with the reason if it cannot.
   * @param state what it will take over, as the text of `encodeHandOver`
   */
  start(state: string): Promise<bigint>;
  /** Has a controller take over. Rejects with the reason if it could not; it has ended then. */
  handOver(controller: bigint, state: string): Promise<void>;
  /**
   * Starts the controller that serves an actor under a name, if there is none. Resolves when the actor is published. Rejects
   * with the reason if it cannot be.
   * @param order the text of `encodeServeOrder`
   */
  serve(name: string, order: string): Promise<void>;
  /** Ends a controller. */
  end(controller: bigint): void;
  /** Ends all controllers. Resolves when they have ended; never rejects. */
  endAll(): Promise<void>;
}

const refuse = () => Promise.reject(new Error("this host starts no controllers"));

/** The controllers of a host that starts none. */
export const noControllers: Controllers = {
  start: refuse,
  handOver: refuse,
  serve: refuse,
  end() {},
  endAll: () => Promise.resolve(),
};
