"""Many connections without a key, from a separate process: `python unauthenticated_load.py PORT CONNECTIONS < request`.

The connections come from 6 addresses. Each sends the request, again whenever it is answered, and comes back when it is hung up on; until the
process is told to stop. It then writes how many refusals it has seen.
"""

import selectors
import signal
import socket
import sys


class Strangers:
    def __init__(self, port, request):
        self._port, self._request, self._chosen = port, request, selectors.DefaultSelector()
        self.refused, self.is_over = 0, False

    def come(self, number):
        made = socket.socket()
        made.setblocking(False)
        made.bind((f"127.0.2.{1 + number % 6}", 0))
        made.connect_ex(("127.0.0.1", self._port))
        self._chosen.register(made, selectors.EVENT_WRITE, number)

    def go_on(self):
        while not self.is_over:
            for key, ready in self._chosen.select(0.1):
                try:
                    self._talk(key.fileobj, ready, key.data)
                except OSError:
                    self._chosen.unregister(key.fileobj)
                    key.fileobj.close()
                    self.come(key.data)

    def stop(self, *_):
        self.is_over = True

    def _talk(self, connection, ready, number):
        if ready & selectors.EVENT_READ:
            answers = connection.recv(2**16)
            self.refused += answers.count(b"HTTP/1.1 4")
            if not answers:
                raise ConnectionError
        connection.send(self._request)
        self._chosen.modify(connection, selectors.EVENT_READ, number)


if __name__ == "__main__":
    strangers = Strangers(int(sys.argv[1]), sys.stdin.buffer.read())
    signal.signal(signal.SIGTERM, strangers.stop)
    for number in range(int(sys.argv[2])):
        strangers.come(number)
    strangers.go_on()
    sys.stdout.write(str(strangers.refused))
