/** Signs the certificates of the hosts that connect to an address. */
import { errorMessage } from "../../../shared/text/error-message.js";
import { parseNetworkAddress } from "../../link/transport/network-address.js";
import { listenTcp } from "../../link/transport/tcp/connect.js";
import { formatIdentity } from "../../link/transport/tls/identity.js";
import type { IssuerOrder } from "../issuer/issuer-order.js";
import { SavedKeys } from "./enrolled-keys.js";
import { openDesk } from "./job-credentials.js";

/**
 * Listens as long as this process runs.
 * @param say told about each host
 * @throws Error if the authority or the secrets cannot be read, or the address cannot be used
 */
export async function serveIssuer(
  { credentials, keys, listen, lifetime }: IssuerOrder,
  say: (text: string) => void,
): Promise<void> {
  const desk = openDesk(credentials, lifetime, new SavedKeys(keys));
  const address = parseNetworkAddress(listen);
  if (address.kind !== "tcp") throw new TypeError(`expected an address tcp://host:port, got ${listen}`);
  await listenTcp(address, (pipe, peer) => {
    desk.serve(pipe).then(
      (identity) => say(`has signed the certificate of ${formatIdentity(identity)}, from ${peer}`),
      (error) => say(`has refused a host from ${peer}: ${errorMessage(error)}`),
    );
  });
}
