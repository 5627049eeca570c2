/** Reads the file of cookies that `sky api login` writes, in the format of Netscape: one cookie per line, its fields separated by tabs. */

/** Returns the header with the cookies for a URL; undefined if there are none. @param now the time in ms since 1970 */
export function cookieHeader(text: string, url: URL, now: number): string | undefined {
  const cookies = text.split("\n").flatMap((line) => {
    const [domain, , path, secure, expires, name, value] = line
      .replace(/^#HttpOnly_/, "")
      .trimEnd()
      .split("\t");
    if (domain === undefined || domain.startsWith("#") || path === undefined || !name || value === undefined) return [];
    if (!isFor(domain, url.hostname) || !`${url.pathname}/`.startsWith(path)) return [];
    if (secure === "TRUE" && url.protocol !== "https:") return [];
    // A cookie without a time lasts as long as the session, which is that of the file.
    if (Number(expires) > 0 && Number(expires) * 1000 <= now) return [];
    return /^[\x21-\x7e]*$/.test(name + value) ? [`${name}=${value}`] : [];
  });
  return cookies.length === 0 ? undefined : cookies.join("; ");
}

/** Returns whether a cookie is for a host: for itself, or for all hosts of a domain. */
function isFor(domain: string, host: string): boolean {
  // Python's reader of cookies adds ".local" to names without dots.
  const bare = domain.replace(/\.local$/, "");
  if (domain.startsWith(".")) return host === domain.slice(1) || host.endsWith(domain);
  return host === domain || (!host.includes(".") && host === bare);
}
