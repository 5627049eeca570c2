/** The ports of a pod besides that of its daemon. */
import { hostPort } from "../manifest/layout.js";

/** The port at which a host expects calls of whoever signs its certificate. */
export const enrolmentPort = hostPort + 1;
