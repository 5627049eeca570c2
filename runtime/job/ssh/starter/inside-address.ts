/** The address of a host for other hosts. */

/**
 * Returns the IP address of the connection by which `ssh` has come, as this machine sees it. The name by which `ssh` knows
 * a host often means nothing to the other ones.
 */
export function insideAddress(): string {
  return process.env["SSH_CONNECTION"]?.split(" ")[2] ?? "127.0.0.1";
}
