/** Signs the certificates of hosts that cannot reach the keeper: the keeper connects to them. */
import { connect } from "node:net";
import { errorMessage } from "../../../shared/text/error-message.js";
import { connectPipe } from "../../link/transport/socket/pipe.js";
import { openDesk } from "./job-credentials.js";

/** Signs the certificates of the hosts of a keeper. */
export interface HostCertifier {
  /**
   * Signs the certificate of the host behind a Unix socket. Failures are told on standard error, which is the log of the keeper; the
   * host asks again.
   */
  certify(socket: string): void;
  /** Forgets the key of a host that is replaced, so that the next one can enrol, and the replaced one cannot renew its certificate. */
  replaced(identity: string): void;
}

/**
 * @param credentials the folder of the authority and the secrets
 * @throws Error if the authority or the secrets cannot be read
 */
export function hostCertifier(credentials: string, lifetime: number): HostCertifier {
  // The keys are in memory: no host outlives its keeper.
  const desk = openDesk(credentials, lifetime);
  return {
    certify: (path) => {
      connectPipe((onread) => connect({ path, onread }), "connect", path, undefined)
        .then((pipe) => desk.serve(pipe))
        .catch((error) => console.error(`cannot sign the certificate of the host at ${path}: ${errorMessage(error)}`));
    },
    replaced: (identity) => desk.replaced(identity),
  };
}
