// Short words for the page's elements. Texts of servers and files become text, never markup.

export function at<T extends Element = HTMLElement>(id: string): T {
    const found = document.getElementById(id);
    if (!found) {
        throw new Error(`the page has no #${id}`);
    }
    return found as unknown as T;
}

type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(name: K, set: Partial<HTMLElementTagNameMap[K]> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const made = Object.assign(document.createElement(name), set);
    made.append(...children);
    return made;
}

export function say(text: string): void {
    at('alert').textContent = text;
}

export function count(value: number, noun: string): string {
    return `${value} ${noun}${value === 1 ? '' : 's'}`;
}

/** 83.5 s as 1:23.5. */
export function clock(seconds: number): string {
    const whole = Math.floor(seconds / 60);
    return `${whole}:${(seconds - 60 * whole).toFixed(1).padStart(4, '0')}`;
}

export async function getJson(url: string): Promise<unknown> {
    const response = await fetch(url);
    if (!response.ok) {
        throw new Error(`${new URL(url).pathname}: status ${response.status}`);
    }
    return response.json();
}
