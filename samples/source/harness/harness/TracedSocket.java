package harness;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;

/**
 * Sends the writer's request in front of each write; who reads the bytes works
 * for that request from then on. One read never spans two writes.
 */
final class TracedSocket extends Socket {
    private InputStream in;
    private OutputStream out;

    @Override
    public synchronized InputStream getInputStream() throws IOException {
        if (in == null) {
            in = new Receiver(super.getInputStream());
        }
        return in;
    }

    @Override
    public synchronized OutputStream getOutputStream() throws IOException {
        if (out == null) {
            out = new Sender(super.getOutputStream());
        }
        return out;
    }

    private static final class Sender extends FilterOutputStream {
        private Sender(OutputStream out) {
            super(new DataOutputStream(new java.io.BufferedOutputStream(out)));
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            if (count == 0) {
                return;
            }
            DataOutputStream frame = (DataOutputStream) out;
            frame.writeUTF(Truth.unit());
            frame.writeInt(count);
            frame.write(bytes, from, count);
            frame.flush();
        }
    }

    private static final class Receiver extends FilterInputStream {
        private int left;

        private Receiver(InputStream in) {
            super(new DataInputStream(in));
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int count) throws IOException {
            if (count == 0) {
                return 0;
            }
            DataInputStream frame = (DataInputStream) in;
            if (left == 0) {
                try {
                    Truth.enter(frame.readUTF());
                } catch (EOFException e) {
                    Truth.enter(Truth.NONE);
                    return -1;
                }
                left = frame.readInt();
            }
            int got = frame.read(bytes, from, Math.min(left, count));
            if (got < 0) {
                throw new EOFException("a frame is cut");
            }
            left -= got;
            return got;
        }

        @Override
        public int available() {
            return left;
        }

        @Override
        public long skip(long count) throws IOException {
            throw new IOException("skip is not supported");
        }

        @Override
        public boolean markSupported() {
            return false;
        }
    }
}
