/**
 * A host of a job as a process: enrols, listens, and prints what happens. Arguments: the address of the issuer, the
 * identity, the folder for the credentials. The secret is in the environment, and the process ends with its input.
 */

import { parseEnrolmentSecret } from "../../../../runtime/job/credentials/enrolment-secret.js";
import { HostCredentials } from "../../../../runtime/job/credentials/host-credentials.js";
import { dialledIssuer } from "../../../../runtime/job/credentials/issuer-route.js";
import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { listenAt } from "../../../../runtime/link/transport/connect.js";
import { formatNetworkAddress } from "../../../../runtime/link/transport/network-address.js";
import { FileCredentials } from "../../../../runtime/link/transport/tls/credentials.js";
import { formatIdentity, parseIdentity } from "../../../../runtime/link/transport/tls/identity.js";

// Connections do not keep a process alive.
process.stdin.resume().on("end", () => process.exit());
const [issuer, identity, folder] = process.argv.slice(2) as [string, string, string];
const { files } = await HostCredentials.enrol(dialledIssuer(issuer), {
  clock: systemClock,
  random: systemRandom,
  identity: parseIdentity(identity),
  secret: parseEnrolmentSecret(process.env["ENROLMENT_SECRET"]!, "ENROLMENT_SECRET"),
  folder,
});
const listener = await listenAt(
  { kind: "tls", host: "127.0.0.1", port: 0 },
  (_pipe, _address, peer) => console.log(`admitted ${peer && formatIdentity(peer)}`),
  { credentials: new FileCredentials(files), onRefused: ({ message }) => console.log(`refused ${message}`) },
);
console.log(`listens at ${formatNetworkAddress(listener.address)}, clock ${new Date().toISOString()}`);
