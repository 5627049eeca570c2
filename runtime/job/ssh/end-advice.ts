/** Says what a user can do about a host that did not start: by what `ssh`, or the host, has printed. */

import type { HostCheck } from "./doctor/finding.js";

interface Advice {
  readonly said: RegExp;
  /** The check of `viceroy doctor --ssh` that fails. */
  readonly check: HostCheck;
  /** Completes the sentence "on host n1: …". */
  readonly advice: (host: string) => string;
}

/** The advice for a host whose server of ssh forwards no Unix sockets. */
export const socketAdvice =
  'its server of ssh must allow "AllowStreamLocalForwarding yes", through which a driver reaches a host';

const advices: readonly Advice[] = [
  {
    said: /host key verification failed|remote host identification has changed/i,
    check: "key",
    advice: (host) =>
      `its key is not a known one; run "ssh ${host}" once and check the key, or add it to ~/.ssh/known_hosts. A job ` +
      "never accepts a key by itself",
  },
  {
    said: /permission denied/i,
    check: "login",
    advice: (host) =>
      "ssh would have to ask for a password or a passphrase, which a job cannot answer; set up a key and an agent until " +
      `"ssh -o BatchMode=yes ${host} true" works`,
  },
  {
    said: /could not resolve hostname/i,
    check: "name",
    advice: () => "check its name, or describe it in ~/.ssh/config",
  },
  {
    said: /stdio forwarding failed/i,
    check: "connect",
    advice: (host) =>
      `the jump host does not connect to it: check with "ssh ${host}" that it is up, and that the server of the jump host ` +
      'allows "AllowTcpForwarding yes"',
  },
  {
    said: /exchange_identification: /,
    check: "connect",
    advice: () =>
      "its server of ssh, or that of a jump host, turns connections away: see MaxStartups and PerSourceMaxStartups in its " +
      "sshd_config, and programs such as fail2ban",
  },
  {
    said: /connection (?:refused|timed out)|no route to host|operation timed out|network is unreachable/i,
    check: "connect",
    advice: (host) => `check with "ssh ${host}" that it is up and that its port of ssh can be reached`,
  },
  {
    said: /there is no Node\.js here|Node\.js \S+ is too old/,
    check: "node",
    advice: () =>
      "install Node.js 20.9 or later there, name it with the option node, or make it available with the option setup",
  },
  {
    said: /ENOSPC|no space left on device|disk quota exceeded/i,
    check: "disk",
    advice: () =>
      "free space there: the daemon is kept in ~/.cache/viceroy, or below XDG_CACHE_HOME, and its sockets in /tmp",
  },
  {
    // The host has not printed anything, so this is not a channel for a socket, but the one for the command.
    said: /(?:^|output ends with: )channel \d+: open failed: /,
    check: "shell",
    advice: () => 'its server of ssh opens no session: it must allow "MaxSessions 1" or more',
  },
  {
    said: /(?:^|: )channel \d+: open failed: /m,
    check: "sockets",
    advice: () => socketAdvice,
  },
];

/**
 * Returns the advice for a host that has ended; undefined if there is none.
 * @param reason what is known, with the output of `ssh`
 */
export function adviceFor(reason: string, host: string): string | undefined {
  return causeOf(reason, host)?.advice;
}

/** Returns which check has failed, and the advice; undefined if the reason is not a known one. */
export function causeOf(
  reason: string,
  host: string,
): { readonly check: HostCheck; readonly advice: string } | undefined {
  const cause = advices.find(({ said }) => said.test(reason));
  return cause && { check: cause.check, advice: cause.advice(host) };
}
