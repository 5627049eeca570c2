/** The ports of a pod besides that of its daemon. */
import { hostPort } from "../manifest/layout.js";

/** The port at which a host expects calls of whoever signs its certificate. */
export const enrolmentPort = hostPort + 1;

/** The port at which a host tells its node when it listens. */
export const startupPort = hostPort + 2;
