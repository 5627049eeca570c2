/** The order for the program of a pod, in a file beside it. It contains no secret. */
import type { ArchiveOrder } from "../../ssh/starter/starter-order.js";

/** The name of the file. */
export const orderName = "order.json";

export interface HostOrder {
  readonly archive: ArchiveOrder;
  /** Whether the host gets a certificate from its job. Otherwise its secret is the token that drivers must have. */
  readonly hasCertificate: boolean;
  /** Whether the host listens for WebSockets of drivers, to which an ingress leads. */
  readonly hasGateway: boolean;
  /** The time in ms for which the host stays without a driver, unless its mesh has another one. */
  readonly idle: number;
  /** The record of the job, for the processes of the host. */
  readonly record: string;
}
