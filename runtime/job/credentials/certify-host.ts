/** Signs the certificates of hosts that cannot reach the keeper: the keeper connects to them. */
import { connect } from "node:net";
import { errorMessage } from "../../../shared/text/error-message.js";
import { connectPipe } from "../../link/transport/socket/pipe.js";
import { openDesk } from "./job-credentials.js";

/**
 * Returns a function that signs the certificate of the host behind a Unix socket. Failures are told on standard error, which
 * is the log of the keeper; the host asks again.
 * @param credentials the folder of the authority and the secrets
 * @throws Error if the authority or the secrets cannot be read
 */
export function hostCertifier(credentials: string, lifetime: number): (socket: string) => void {
  // The keys are in memory: no host outlives its keeper.
  const desk = openDesk(credentials, lifetime);
  return (path) => {
    connectPipe((onread) => connect({ path, onread }), "connect", path, undefined)
      .then((pipe) => desk.serve(pipe))
      .catch((error) => console.error(`cannot sign the certificate of the host at ${path}: ${errorMessage(error)}`));
  };
}
