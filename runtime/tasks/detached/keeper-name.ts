/** The name by which the controller of detached actors publishes itself. */
export const keeperName = "viceroy/detached-actors";
