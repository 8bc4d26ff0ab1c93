// How the server is asked. A page that is one file holds the answers itself.

import type { Answer, Fault } from "./types";

export type * from "./types";

export type Parameters = Record<string, string>;

type Answers = Record<string, unknown>;

function embedded(): Answers | null {
  const holder = document.getElementById("answers");
  return holder === null ? null : (JSON.parse(holder.textContent) as Answers);
}

const answers = embedded();

// Whether the page is a file with its answers in it.
export const isFile = answers !== null;

// Whether `path` is answered; a server answers all.
export function has(path: string): boolean {
  return answers === null || path in answers;
}

async function answer<T>(response: Response): Promise<T> {
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    // What is not JSON is said by the status alone.
  }
  if (!response.ok) {
    const said = (body as Fault | null)?.error;
    throw new Error(said ?? `the server said ${response.status} ${response.statusText}`);
  }
  return body as T;
}

export async function ask<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  if (answers !== null) {
    if (!(path in answers)) throw new Error("This is not in the file; lprof serve shows all of the table.");
    return answers[path] as T;
  }
  const query = new URLSearchParams(parameters).toString();
  return answer<T>(await fetch(`/api/${path}${query ? `?${query}` : ""}`, { signal }));
}

export async function askSql(query: string, signal?: AbortSignal): Promise<Answer> {
  return answer<Answer>(
    await fetch("/api/sql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
      signal,
    }),
  );
}
