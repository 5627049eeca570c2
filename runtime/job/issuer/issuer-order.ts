/** What an issuer is told: the arguments of its program. None of them is secret. */
export interface IssuerOrder {
  /** The folder with the authority and the secrets. */
  readonly credentials: string;
  /** The folder for the keys of the hosts that have enrolled. It is another one for each start of the hosts. */
  readonly keys: string;
  /** The address at which hosts enrol: `tcp://0.0.0.0:20001`. */
  readonly listen: string;
  /** The lifetime of certificates, in ms. */
  readonly lifetime: number;
}

/** Returns the arguments of the program, in which a shell may put variables. */
export function issuerArguments(order: Record<keyof IssuerOrder, string | number>): string[] {
  const { credentials, keys, listen, lifetime } = order;
  return [credentials, keys, listen, lifetime].map(String);
}

/** @param args the arguments after the program */
export function readIssuerArguments(args: readonly string[]): IssuerOrder {
  const [credentials = "", keys = "", listen = "", lifetime = ""] = args;
  return { credentials, keys, listen, lifetime: Number(lifetime) };
}
