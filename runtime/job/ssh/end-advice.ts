/** Says what a user can do about a host that did not start: by what `ssh`, or the host, has printed. */

interface Advice {
  readonly said: RegExp;
  /** Completes the sentence "on host n1: …". */
  readonly advice: (host: string) => string;
}

const advices: readonly Advice[] = [
  {
    said: /host key verification failed|remote host identification has changed/i,
    advice: (host) =>
      `its key is not a known one; run "ssh ${host}" once and check the key, or add it to ~/.ssh/known_hosts. A job ` +
      "never accepts a key by itself",
  },
  {
    said: /permission denied/i,
    advice: (host) =>
      "ssh would have to ask for a password or a passphrase, which a job cannot answer; set up a key and an agent until " +
      `"ssh -o BatchMode=yes ${host} true" works`,
  },
  {
    said: /could not resolve hostname/i,
    advice: () => "check its name, or describe it in ~/.ssh/config",
  },
  {
    said: /connection (?:refused|timed out)|no route to host|operation timed out|network is unreachable/i,
    advice: (host) => `check with "ssh ${host}" that it is up and that its port of ssh can be reached`,
  },
  {
    said: /there is no Node\.js here|Node\.js \S+ is too old/,
    advice: () =>
      "install Node.js 20.9 or later there, name it with the option node, or make it available with the option setup",
  },
  {
    said: /^channel \d+: open failed: /m,
    advice: () =>
      'its server of ssh must allow "AllowStreamLocalForwarding yes", through which a driver reaches a host',
  },
];

/**
 * Returns the advice for a host that has ended; undefined if there is none.
 * @param reason what is known, with the output of `ssh`
 */
export function adviceFor(reason: string, host: string): string | undefined {
  return advices.find(({ said }) => said.test(reason))?.advice(host);
}
